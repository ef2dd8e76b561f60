import type { Problem } from './generated.ts';

/** The server's refusal, as it said it (RFC 9457). Act on `code`; `message` is for people. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError';
  readonly status: number;
  /** Stable word: `not_found`, `invalid`, `rejected_by_router`, `agent_offline`, `outcome_unknown` … */
  readonly code: string;
  /** What was refused of each field. */
  readonly errors: Readonly<Record<string, readonly string[]>>;
  /** What the server's log knows the request by. */
  readonly requestId: string | null;

  constructor(status: number, problem: Partial<Problem>) {
    super(problem.message ?? `the server answered ${status}`);
    this.status = status;
    this.code = problem.code ?? 'unexpected_answer';
    this.errors = problem.errors ?? {};
    this.requestId = problem.request_id ?? null;
  }
}

/** There was no answer: the server cannot be reached, or the line broke. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
  /** True when the request may have arrived before the line broke, so that what it does may have been done. */
  readonly maybeDone: boolean;

  constructor(message: string, maybeDone: boolean, cause: unknown) {
    super(message, { cause });
    this.maybeDone = maybeDone;
  }
}

/** The line, the server or a proxy in between failed, or it is too busy; what the server refuses it would refuse again. */
export function mayPass(error: unknown): boolean {
  return error instanceof ConnectionError || (error instanceof ProblemError && (error.status >= 500 || error.status === 429));
}
