import type { Problem } from './generated.ts';

/** An error answer of the server (RFC 9457). Act on `code`; `message` is for people. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError';
  readonly status: number;
  /** Stable error code: `not_found`, `invalid`, `rejected_by_router`, `agent_offline`, `outcome_unknown` … */
  readonly code: string;
  /** Reasons for each refused field. */
  readonly errors: Readonly<Record<string, readonly string[]>>;
  /** Id of the request in the server's log. */
  readonly requestId: string | null;

  constructor(status: number, problem: Partial<Problem>) {
    super(problem.message ?? `the server answered ${status}`);
    this.status = status;
    this.code = problem.code ?? 'unexpected_answer';
    this.errors = problem.errors ?? {};
    this.requestId = problem.request_id ?? null;
  }
}

/** There was no answer: the server cannot be reached, or the connection broke. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
  /** True when the server may have received the request and carried it out before the connection broke. */
  readonly maybeDone: boolean;

  constructor(message: string, maybeDone: boolean, cause: unknown) {
    super(message, { cause });
    this.maybeDone = maybeDone;
  }
}

/** Whether a retry may succeed: the connection, the server or a proxy failed, or the server is too busy. */
export function isRetryable(error: unknown): boolean {
  return error instanceof ConnectionError || (error instanceof ProblemError && (error.status >= 500 || error.status === 429));
}
