/**
 * Every way a request can fail, as a stable word. The HTTP edge has one table from word to status
 * (http/error-handler.ts); nothing ever matches on a message text.
 */
export const ERROR_CODES = [
  'bad_request',
  'unauthenticated',
  'forbidden',
  'not_found',
  'method_not_allowed',
  'request_timeout',
  'conflict',
  'in_progress',
  'quota_exceeded',
  'too_large',
  'unsupported_media_type',
  'invalid',
  'rejected_by_router',
  'rate_limited',
  'headers_too_large',
  'agent_offline',
  'router_unreachable',
  'outcome_unknown',
  'unavailable',
  'internal',
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

/** Field name to the reasons why its value was refused, as `errors` of an answer has them (docs/api.md). */
export type FieldErrors = Record<string, string[]>;

export interface AppErrorOptions {
  cause?: unknown;
  /** Which fields were refused and why; answered as `errors`. */
  errors?: FieldErrors;
  /** Further public members of the answer, for example the router's trap category. */
  extra?: Record<string, unknown>;
  /** When it is worth asking again, milliseconds from now; answered as `Retry-After`. */
  retryAfterMs?: number | undefined;
}

/** The one error type of the control plane. `message` is shown to the caller; `cause` only reaches the log. */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly errors: FieldErrors | undefined;
  readonly extra: Record<string, unknown> | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(code: ErrorCode, message: string, options: AppErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'AppError';
    this.code = code;
    this.errors = options.errors;
    this.extra = options.extra;
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** The connection to the database broke in the middle of a commit: `outcome_unknown`, unless doing it again finds what was done. */
export class LostCommit extends AppError {
  constructor(cause: unknown) {
    super('outcome_unknown', 'the connection to the database broke while the change was being stored; it may have been stored', { cause });
  }
}

/** The answer for a record that does not exist or belongs to another team: the two must look the same. */
export function notFound(what: string): AppError {
  return new AppError('not_found', `${what} not found`);
}

/** A refused field of a request: 422 naming the field and the reason. */
export function invalidField(field: string, reason: string): AppError {
  return new AppError('invalid', `${field}: ${reason}`, { errors: { [field]: [reason] } });
}
