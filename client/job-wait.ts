import { ProblemError } from './errors.ts';
import type { EventOptions, StreamEvent } from './events.ts';
import type { Job } from './generated.ts';

export interface WaitOptions {
  signal?: AbortSignal;
  /** Called with the job whenever its status or phase has changed, and at the start. */
  onChange?: (job: Job) => void;
}

export interface WaitDeps {
  read: (signal: AbortSignal) => Promise<Job>;
  events: (options: EventOptions) => AsyncGenerator<StreamEvent, never>;
}

/** Looked at this often even if no event comes: 12 of 60 requests a minute. */
const LOOK_EVERY_MS = 5000;

/** Nothing more is expected of a job in this state, except that an `unknown` one may still be explained. */
export function isOver({ status }: Pick<Job, 'status'>): boolean {
  return status !== 'pending' && status !== 'running';
}

/**
 * The job as soon as it is over: completed, failed, deleted, expired or unknown. Woken by the event stream, and looking
 * now and then where that cannot be had.
 * @throws ProblemError, ConnectionError, the signal's reason
 */
export async function waitForJob(jobId: string, deps: WaitDeps, options: WaitOptions): Promise<Job> {
  const done = new AbortController();
  const signal = options.signal ? AbortSignal.any([done.signal, options.signal]) : done.signal;
  const bell = new Bell();
  const listening = listen(jobId, deps, signal, bell);
  let told = '';
  try {
    for (;;) {
      const job = await deps.read(signal);
      const state = `${job.status} ${job.phase}`;
      if (state !== told) options.onChange?.(job);
      told = state;
      if (isOver(job)) return job;
      await bell.wait(LOOK_EVERY_MS, signal);
    }
  } finally {
    done.abort();
    await listening;
  }
}

/** Rings for every event of the job. Never rejects: without events, looking has to do. */
async function listen(jobId: string, { events }: WaitDeps, signal: AbortSignal, bell: Bell): Promise<void> {
  try {
    const types = ['job.running', 'job.completed', 'job.failed', 'job.deleted', 'job.expired', 'job.unknown'] as const;
    for await (const event of events({ types, signal, onOpen: () => bell.ring() })) {
      if (event.type === 'resync' || event.data['job_id'] === jobId) bell.ring();
    }
  } catch (error) {
    if (!signal.aborted && !(error instanceof ProblemError)) bell.ring();
  }
}

/** Rung once, wakes one wait, also one that begins later. */
class Bell {
  #rung = false;
  #wake: () => void = () => undefined;

  ring(): void {
    this.#rung = true;
    this.#wake();
  }

  async wait(ms: number, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms);
    const wake = (): void => resolve();
    signal.addEventListener('abort', wake);
    this.#wake = wake;
    if (!this.#rung && !signal.aborted) await promise;
    signal.removeEventListener('abort', wake);
    clearTimeout(timer);
    this.#rung = false;
    signal.throwIfAborted();
  }
}
