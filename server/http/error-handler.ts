import { STATUS_CODES } from 'node:http';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { AppError } from '../core/errors.ts';
import type { ErrorCode, FieldErrors } from '../core/errors.ts';

/** The one table from error word to HTTP status. */
export const STATUS_OF: Record<ErrorCode, number> = {
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  too_large: 413,
  unsupported_media_type: 415,
  invalid: 422,
  rejected_by_router: 422,
  rate_limited: 429,
  internal: 500,
  agent_offline: 503,
  router_unreachable: 503,
  unavailable: 503,
  outcome_unknown: 504,
};

/** RFC 9457, with `message` and `errors` beside it for clients that know those. */
export const problemSchema = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    code: z.string(),
    message: z.string(),
    errors: z.record(z.string(), z.array(z.string())),
    request_id: z.string(),
    category: z.int().optional(),
  })
  .meta({ id: 'Problem' });

type Problem = z.infer<typeof problemSchema>;

/** Every error of every route ends here; nothing else writes an error body (the plant endpoint has its own). */
export function errorHandler(error: FastifyError | AppError, request: FastifyRequest, reply: FastifyReply): void {
  sendProblem(request, reply, toAppError(error));
}

/** URLs that the router cannot even read (malformed escapes) do not reach the error handler on their own. */
export function frameworkErrors(error: FastifyError, request: FastifyRequest, reply: FastifyReply): void {
  sendProblem(request, reply, toAppError(error));
}

export function notFoundHandler(request: FastifyRequest, reply: FastifyReply): void {
  sendProblem(request, reply, new AppError('not_found', `no route ${request.method} ${request.url.split('?')[0]}`));
}

export function sendProblem(request: FastifyRequest, reply: FastifyReply, error: AppError): void {
  const status = STATUS_OF[error.code];
  if (status >= 500 && error.code === 'internal') request.log.error({ err: error.cause ?? error }, 'request failed');
  const problem = toProblem(error, request.id);
  if (status === 401) reply.header('www-authenticate', 'Bearer realm="signalbox"');
  // A string, so that the response schema of the route's success does not get to see it.
  // Set here as well: errors before routing run no hook.
  void reply.code(status).header('x-request-id', request.id).type('application/problem+json; charset=utf-8').serializer(String).send(JSON.stringify(problem));
}

/** The body of an error answer. */
export function toProblem(error: AppError, requestId: string): Problem {
  const status = STATUS_OF[error.code];
  return {
    type: `urn:signalbox:error:${error.code}`,
    title: STATUS_CODES[status] ?? 'Error',
    status,
    detail: error.message,
    code: error.code,
    message: error.message,
    errors: error.errors ?? {},
    request_id: requestId,
    ...error.extra,
  };
}

/** Whatever a route, a hook or Fastify itself threw, as the one error type. */
export function toAppError(error: FastifyError | AppError): AppError {
  if (error instanceof AppError) return error;
  if (hasZodFastifySchemaValidationErrors(error)) return validationError(error);
  const status = error.statusCode ?? 500;
  if (status === 413) return new AppError('too_large', 'the request body is larger than 1 MiB', { cause: error });
  if (status === 415) return new AppError('unsupported_media_type', 'the content type must be application/json', { cause: error });
  if (status === 429) return new AppError('rate_limited', error.message, { cause: error });
  // Malformed JSON, an empty body, a bad content length, an unreadable URL.
  if (status >= 400 && status < 500) return new AppError('invalid', error.message, { cause: error });
  return new AppError('internal', 'internal error', { cause: error });
}

interface ZodIssueHolder {
  validation: { instancePath: string; message?: string | undefined }[];
  validationContext?: string | undefined;
}

function validationError(error: ZodIssueHolder): AppError {
  const errors: FieldErrors = {};
  for (const issue of error.validation) {
    const field = issue.instancePath.split('/').filter(Boolean).join('.') || (error.validationContext ?? 'body');
    (errors[field] ??= []).push(issue.message ?? 'is not valid');
  }
  const [field, reasons] = Object.entries(errors)[0] ?? ['body', ['is not valid']];
  return new AppError('invalid', `${field}: ${reasons[0]}`, { errors });
}
