import type { Timers } from '../runtime/timers.ts';

/** How long to wait for one answer, and which errors end the wait without one. */
export interface Wait {
  timeoutMs: number;
  signal?: AbortSignal | undefined;
  /** Called when the wait ends without an answer. Creates the error, and may notify the other side. */
  onExpiry(why: 'timeout' | 'aborted', id: number): Error;
}

interface Entry<Context, Answer> {
  context: Context;
  resolve(answer: Answer): void;
  reject(error: Error): void;
  /** Ends the timer and the abort listener. */
  release(): void;
}

/**
 * Requests that wait for an answer. Each ends exactly once: by its answer, an error, its deadline, its signal, or with all others
 * when the connection closes. A later answer is ignored.
 */
export class PendingRequests<Context, Answer> {
  readonly #timers: Timers;
  readonly #entries = new Map<number, Entry<Context, Answer>>();
  #lastId = 0;

  constructor(timers: Timers) {
    this.#timers = timers;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Registers a request with a new id. The promise always settles by the deadline. */
  open(context: Context, wait: Wait): { id: number; answer: Promise<Answer> } {
    this.#lastId += 1;
    const id = this.#lastId;
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const expire = (why: 'timeout' | 'aborted'): void => {
      this.reject(id, wait.onExpiry(why, id));
    };
    const onAbort = (): void => expire('aborted');
    const timer = this.#timers.setTimeout(() => expire('timeout'), wait.timeoutMs);
    const release = (): void => {
      timer.cancel();
      wait.signal?.removeEventListener('abort', onAbort);
    };
    this.#entries.set(id, { context, resolve, reject, release });
    if (wait.signal?.aborted) onAbort();
    else wait.signal?.addEventListener('abort', onAbort);
    return { id, answer: promise };
  }

  /** The context of an open request; undefined once it has ended. */
  context(id: number): Context | undefined {
    return this.#entries.get(id)?.context;
  }

  /** @returns false when the request has ended before */
  resolve(id: number, answer: Answer): boolean {
    const entry = this.#take(id);
    entry?.resolve(answer);
    return entry !== undefined;
  }

  /** @returns false when the request has ended before */
  reject(id: number, error: Error): boolean {
    const entry = this.#take(id);
    entry?.reject(error);
    return entry !== undefined;
  }

  /** Ends every open request, each with an error of its own. */
  rejectAll(makeError: () => Error): void {
    for (const id of this.#entries.keys()) this.reject(id, makeError());
  }

  #take(id: number): Entry<Context, Answer> | undefined {
    const entry = this.#entries.get(id);
    if (!entry) return undefined;
    this.#entries.delete(id);
    entry.release();
    return entry;
  }
}
