import { ProblemError } from './errors.ts';
import type { EventOptions, StreamEvent } from './events.ts';
import type { Job } from './generated.ts';

export interface WaitOptions {
  signal?: AbortSignal;
  /** Called with the job at the start and whenever its status or phase changes. */
  onChange?: (job: Job) => void;
}

export interface WaitDeps {
  read: (signal: AbortSignal) => Promise<Job>;
  events: (options: EventOptions) => AsyncGenerator<StreamEvent, never>;
}

/** Poll interval without events: 12 of the 60 requests a minute. */
const POLL_MS = 5000;

/** True for a final status. An `unknown` job may still become completed or failed. */
export function isOver({ status }: Pick<Job, 'status'>): boolean {
  return status !== 'pending' && status !== 'running';
}

/**
 * Resolves with the job when it is completed, failed, deleted, expired or unknown. Events trigger a read; a slow poll covers
 * missed events.
 * @throws ProblemError, ConnectionError, the signal's reason
 */
export async function waitForJob(jobId: string, deps: WaitDeps, options: WaitOptions): Promise<Job> {
  const done = new AbortController();
  const signal = options.signal ? AbortSignal.any([done.signal, options.signal]) : done.signal;
  const wakeUp = new WakeUp();
  const listening = listen(jobId, deps, signal, wakeUp);
  let reported = '';
  try {
    for (;;) {
      const job = await deps.read(signal);
      const state = `${job.status} ${job.phase}`;
      if (state !== reported) options.onChange?.(job);
      reported = state;
      if (isOver(job)) return job;
      await wakeUp.wait(POLL_MS, signal);
    }
  } finally {
    done.abort();
    await listening;
  }
}

/** Wakes the waiter for every event of the job. Never rejects: without events, the poll is enough. */
async function listen(jobId: string, { events }: WaitDeps, signal: AbortSignal, wakeUp: WakeUp): Promise<void> {
  try {
    const types = ['job.running', 'job.completed', 'job.failed', 'job.deleted', 'job.expired', 'job.unknown'] as const;
    for await (const event of events({ types, signal, onOpen: () => wakeUp.trigger() })) {
      if (event.type === 'resync' || event.data['job_id'] === jobId) wakeUp.trigger();
    }
  } catch (error) {
    if (!signal.aborted && !(error instanceof ProblemError)) wakeUp.trigger();
  }
}

/** One wake-up ends one wait, also a wait that begins later. */
class WakeUp {
  #isPending = false;
  #wake: () => void = () => undefined;

  trigger(): void {
    this.#isPending = true;
    this.#wake();
  }

  async wait(ms: number, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms);
    const wake = (): void => resolve();
    signal.addEventListener('abort', wake);
    this.#wake = wake;
    if (!this.#isPending && !signal.aborted) await promise;
    signal.removeEventListener('abort', wake);
    clearTimeout(timer);
    this.#isPending = false;
    signal.throwIfAborted();
  }
}
