import { AgentError } from './errors.ts';

/** The end of a wait: `timeoutMs` milliseconds from now, or when `signal` aborts. */
export interface Deadline {
  timeoutMs: number;
  signal?: AbortSignal | undefined;
}

/** setTimeout fires at once above 2^31-1 ms; a longer deadline is as good as this one (24.8 days). */
const MAX_TIMER_MS = 0x7fff_ffff;

/**
 * Settles like `work`, or rejects with `expired(reason)` at the deadline. It does not stop the work: the caller must stop it in
 * `expired` or afterwards.
 */
export function settleBy<T>(work: Promise<T>, deadline: Deadline, expired: (reason: string) => AgentError): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const end = onExpiry(deadline, (reason) => {
      reject(expired(reason));
    });
    work.then(
      (value) => {
        end();
        resolve(value);
      },
      (error: unknown) => {
        end();
        reject(toError(error));
      },
    );
  });
}

/**
 * Calls `expired` once, at the deadline or on abort (at once if already aborted). The reason is the message of the abort's AgentError.
 * @returns a function that ends the wait
 */
export function onExpiry(deadline: Deadline, expired: (reason: string) => void): () => void {
  const { timeoutMs, signal } = deadline;
  const finish = (reason: string): void => {
    end();
    expired(reason);
  };
  const onAbort = (): void => {
    finish(signal?.reason instanceof AgentError ? signal.reason.message : 'cancelled');
  };
  const timer = Number.isFinite(timeoutMs)
    ? setTimeout(finish, clampTimer(timeoutMs), `no answer within ${formatMs(timeoutMs)}`)
    : undefined;
  const end = (): void => {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  };
  if (signal?.aborted) onAbort();
  else signal?.addEventListener('abort', onAbort);
  return end;
}

function clampTimer(ms: number): number {
  return Math.min(Math.max(ms, 0), MAX_TIMER_MS);
}

function formatMs(ms: number): string {
  return ms >= 1000 ? `${Math.round(ms / 100) / 10} s` : `${Math.max(0, Math.round(ms))} ms`;
}

/** Why an operation must not begin; undefined when it may. An operation that was not sent certainly has no effect. */
export function tooLate({ timeoutMs, signal }: Deadline): string | undefined {
  if (signal?.aborted) return 'cancelled before it was sent';
  return timeoutMs <= 0 ? 'no time was left to send it' : undefined;
}

/** Any thrown value as an Error. */
export function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

/** What remains of a deadline after some of its time was used. */
export function remaining(deadline: Deadline, startedAt: number, now: number = performance.now()): Deadline {
  return { timeoutMs: Math.max(0, deadline.timeoutMs - (now - startedAt)), signal: deadline.signal };
}
