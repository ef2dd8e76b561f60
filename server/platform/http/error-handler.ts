import { STATUS_CODES } from 'node:http';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { AppError, LostCommit } from '../core/errors.ts';
import type { ErrorCode, FieldErrors } from '../core/errors.ts';

/** Maps error codes to HTTP statuses. */
export const STATUS_OF: Record<ErrorCode, number> = {
  bad_request: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  conflict: 409,
  in_progress: 409,
  quota_exceeded: 409,
  precondition_failed: 412,
  too_large: 413,
  unsupported_media_type: 415,
  invalid: 422,
  rejected_by_router: 422,
  rate_limited: 429,
  headers_too_large: 431,
  internal: 500,
  agent_offline: 503,
  router_unreachable: 503,
  unavailable: 503,
  outcome_unknown: 504,
};

/** Of the names of refused fields, for the audit log. */
const MOST_REFUSED_CHARS = 200;

/** Retry-After for a response that is still being produced, seconds. */
const IN_PROGRESS_S = 1;
/** Retry-After for `unavailable`, unless the error has its own: a database restarts in a second or two. */
export const UNAVAILABLE_S = 2;

/** RFC 9457, with `message` and `errors` as docs/interface.md requires. */
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
    reason: z.string().optional().describe('Why, more exactly than `code`: `timeout`, `login_refused`, `terminal_off` …'),
    terminal_id: z.string().optional().describe('The terminal that the caller has open on the router already'),
  })
  .meta({ id: 'Problem' });

type Problem = z.infer<typeof problemSchema>;

/** Formats an interface's errors. */
export type DescribeError = (error: AppError, requestId: string) => { status: number; type: string; body: string };

/** Errors by RFC 9457: every route except the plant demonstration. */
export const describeProblem: DescribeError = (error, requestId) => ({
  status: STATUS_OF[error.code],
  type: 'application/problem+json; charset=utf-8',
  body: JSON.stringify(toProblem(error, requestId)),
});

/** Handles all errors of all routes, except failures before a request is parsed (client-errors.ts). */
export function errorHandlerFor(describe: DescribeError) {
  return (thrown: FastifyError | AppError, request: FastifyRequest, reply: FastifyReply): void => {
    const error = orRepeatable(toAppError(thrown), request);
    const { status, type, body } = describe(error, request.id);
    if (error.errors) request.auditDetail ??= refusedFields(error.errors);
    logRefusal(request, error, status);
    if (status === 401) reply.header('www-authenticate', 'Bearer realm="signalbox"');
    if (error.code === 'in_progress') reply.header('retry-after', IN_PROGRESS_S);
    if (error.code === 'unavailable') reply.header('retry-after', UNAVAILABLE_S);
    if (error.retryAfterMs !== undefined) reply.header('retry-after', Math.ceil(error.retryAfterMs / 1000));
    // Set here as well: errors before routing run no hook. A string, so that the route's response schema does not
    // apply to it.
    void reply.code(status).header('x-request-id', request.id).type(type).serializer(String).send(body);
  };
}

/** The fields that were refused, without the reasons, which may quote input. Of a record, the caller has chosen their names. */
export function refusedFields(errors: FieldErrors): string {
  const names = Object.keys(errors).map((name) => name.replaceAll(/[^\w.[\]-]/g, '?'));
  return `refused: ${names.join(', ').slice(0, MOST_REFUSED_CHARS)}`;
}

/**
 * Logs the request id of an error response, so that it can be looked up. Omits reasons, ids and the query, which may quote
 * input. Unknown paths and 429 are logged at debug level only, so that a flood of requests does not flood the log.
 */
function logRefusal(request: FastifyRequest, error: AppError, status: number): void {
  const { code, errors } = error;
  const about = { method: request.method, route: request.routeOptions.url, status, code, fields: errors && Object.keys(errors) };
  if (code === 'internal') request.log.error({ ...about, err: error.cause ?? error }, 'request failed');
  else if (code === 'rate_limited' || about.route === undefined) request.log.debug(about, 'request refused');
  else request.log.info(about, 'request refused');
}

/** The body of an error response. */
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

/**
 * When the outcome of a commit is unknown and the route finds its earlier record by the Idempotency-Key, the caller can safely
 * repeat the request: it takes effect once.
 */
function orRepeatable(error: AppError, { idempotency, routeOptions }: FastifyRequest): AppError {
  const isRepeatable = error instanceof LostCommit && idempotency?.given === true && routeOptions.config.resumable === true;
  return isRepeatable ? new AppError('unavailable', `${error.message}; repeat it with the same Idempotency-Key`, { cause: error }) : error;
}

/** Converts errors of routes, hooks and Fastify to {@link AppError}. */
function toAppError(error: FastifyError | AppError): AppError {
  if (error instanceof AppError) return error;
  const status = error.statusCode ?? 500;
  if (status === 413) return new AppError('too_large', 'the request body is larger than 1 MiB', { cause: error });
  if (status === 415) return new AppError('unsupported_media_type', 'the content type must be application/json', { cause: error });
  if (status === 429) return new AppError('rate_limited', error.message, { cause: error });
  // Malformed JSON, an empty body, a bad content length, an unreadable URL.
  if (status >= 400 && status < 500) return new AppError('invalid', error.message, { cause: error });
  return new AppError('internal', 'internal error', { cause: error });
}
