import { AppError, ERROR_CODES } from '../core/errors.ts';
import type { ErrorCode } from '../core/errors.ts';
import { STATUS_OF, toProblem } from './error-handler.ts';
import { addExamples } from './openapi-examples.ts';
import { tidySchemas } from './openapi-schemas.ts';
import type { ApiResponse, OpenApiDocument, Operation } from './openapi-types.ts';
import { operationsOf } from './openapi-types.ts';
import { operationIdOf } from './operation-id.ts';

const PROBLEM = { $ref: '#/components/schemas/Problem' };
const PROBLEM_TYPE = 'application/problem+json';
const EXAMPLE_REQUEST = '01a1fb9c-3770-7001-8000-0d1e2f3a4b5c';

/**
 * Adds to the generated document what all routes have in common: operation ids, errors of hooks, `Idempotency-Key`, paging
 * and rate-limit headers, examples. Changes the given document.
 * @param hasProblems false for an interface with an error object of its own
 */
export function completeDocument(document: OpenApiDocument, hasProblems: boolean): OpenApiDocument {
  if (hasProblems) addSharedParts(document);
  for (const { path, method, operation } of operationsOf(document)) {
    const isList = method === 'get' && isListOperation(operation);
    operation.operationId ??= operationIdOf(method, path, isList);
    for (const [status, response] of Object.entries(operation.responses)) describeSuccess(status, response);
    if (hasProblems && method === 'get' && operation.responses['200']?.content?.['application/json'] !== undefined) {
      operation.responses['304'] = { description: 'Unchanged: the caller named the ETag of this answer in If-None-Match' };
    }
    markOptionalBody(operation);
    if (!hasProblems) continue;
    addErrors(operation, method);
    if (isRepeatable(method)) (operation.parameters ??= []).push(shared('parameters', 'IdempotencyKey') as never);
    if (isList && hasPages(operation))
      operation.responses['200']!.headers = { Link: shared('headers', 'Link'), 'X-Event-Id': shared('headers', 'XEventId') };
    for (const [status, response] of Object.entries(operation.responses)) asProblem(status, response);
  }
  tidySchemas(document);
  addExamples(document);
  document.tags = tagsOf(document);
  return document;
}

function addSharedParts(document: OpenApiDocument): void {
  document.components.parameters = {
    IdempotencyKey: {
      name: 'Idempotency-Key',
      in: 'header',
      required: false,
      description:
        'Makes the request safe to repeat for a day: the same key and body gives the first response again, another body 422, a request still in progress 409. A replayed response has the header Idempotency-Replayed, an X-Request-Id of its own and exactly the body of the first one.',
      schema: { type: 'string', pattern: '^[\\x21-\\x7e]{1,255}$' },
      example: '4f3c2a1e-restart-gw-depot',
    },
  };
  document.components.headers = {
    Link: { description: 'The next page, if there may be one: `<…>; rel="next"`', schema: { type: 'string' } },
    XEventId: {
      description:
        'Where the event stream of the team stood before anything was read: as `Last-Event-ID` of `GET /api/events` it misses nothing',
      schema: { type: 'string' },
    },
    RetryAfter: { description: 'Seconds to wait before the next request', schema: { type: 'integer' } },
  };
}

function shared(kind: 'parameters' | 'headers', name: string): { $ref: string } {
  return { $ref: `#/components/${kind}/${name}` };
}

/** Methods that take an `Idempotency-Key` (http/idempotency.ts). */
function isRepeatable(method: string): boolean {
  return method === 'post' || method === 'patch';
}

/** A search has no next page. */
function hasPages({ parameters = [] }: Operation): boolean {
  return parameters.some(({ name }) => name === 'cursor');
}

function isListOperation({ responses }: Operation): boolean {
  return responses['200']?.content?.['application/json']?.schema?.properties?.['data']?.type === 'array';
}

function describeSuccess(status: string, response: ApiResponse): void {
  if (response.description === 'Default Response') response.description = status === '204' ? 'Done' : 'Success';
}

/** The generator marks every body as required; a body that may be null may also be absent. */
function markOptionalBody({ requestBody }: Operation): void {
  for (const media of Object.values(requestBody?.content ?? {})) {
    const others = media.schema?.anyOf?.filter((option) => option.type !== 'null');
    if (others?.length !== 1 || others.length === media.schema?.anyOf?.length) continue;
    media.schema = others[0]!;
    requestBody!.required = false;
  }
}

function addErrors(operation: Operation, method: string): void {
  const { responses } = operation;
  const add = (status: string, description: string): void => {
    responses[status] ??= { description, content: { [PROBLEM_TYPE]: { schema: PROBLEM } } };
  };
  if (isRepeatable(method)) add('409', 'The first request with this Idempotency-Key is still in progress');
  if (operation.requestBody) {
    add('413', 'The body is larger than 1 MiB');
    add('415', 'The body is not application/json');
  }
  add('default', 'Any other error, in the same format');
  responses['429']!.headers = { 'Retry-After': shared('headers', 'RetryAfter') };
}

/** The generator uses one content type; errors have another. */
function asProblem(status: string, response: ApiResponse): void {
  const media = response.content?.['application/json'] ?? response.content?.[PROBLEM_TYPE];
  if (media?.schema?.$ref !== PROBLEM.$ref) return;
  const example = toProblem(new AppError(codeOf(Number(status)), response.description), EXAMPLE_REQUEST);
  response.content = { [PROBLEM_TYPE]: { ...media, example } };
}

/** The first error code with that status; the others with the same status differ in `code`. */
function codeOf(status: number): ErrorCode {
  return ERROR_CODES.find((code) => STATUS_OF[code] === status) ?? 'internal';
}

function tagsOf(document: OpenApiDocument): { name: string; description?: string }[] {
  const described = new Map(document.tags?.map((tag) => [tag.name, tag]));
  const names = new Set(operationsOf(document).flatMap(({ operation }) => operation.tags ?? []));
  return [...names].sort().map((name) => described.get(name) ?? { name });
}
