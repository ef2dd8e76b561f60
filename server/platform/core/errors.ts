/**
 * Stable codes for every way a request can fail. The HTTP edge maps codes to statuses
 * (http/error-handler.ts); nothing matches on a message text.
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
  'precondition_failed',
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

/** Field name to the reasons why its value was rejected: `errors` of a response (docs/api.md). */
export type FieldErrors = Record<string, string[]>;

export interface AppErrorOptions {
  cause?: unknown;
  /** The rejected fields and the reasons; sent as `errors`. */
  errors?: FieldErrors;
  /** Further public members of the response, for example the router's trap category. */
  extra?: Record<string, unknown>;
  /** When to retry, milliseconds from now; sent as `Retry-After`. */
  retryAfterMs?: number | undefined;
}

/** The control plane's only error type. Callers see `message`; only the log has `cause`. */
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

/** The database connection broke during a commit: `outcome_unknown`, unless a retry finds the stored change. */
export class LostCommit extends AppError {
  constructor(cause: unknown) {
    super('outcome_unknown', 'the connection to the database broke while the change was being stored; it may have been stored', { cause });
  }
}

/** For a record that does not exist or belongs to another team: callers must not be able to tell which. */
export function notFound(what: string): AppError {
  return new AppError('not_found', `${what} not found`);
}

/** A rejected field of a request: 422 with the field and the reason. */
export function invalidField(field: string, reason: string): AppError {
  return new AppError('invalid', `${field}: ${reason}`, { errors: { [field]: [reason] } });
}
