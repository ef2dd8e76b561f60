import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Counters } from '../../../platform/core/counters.ts';
import { AppError } from '../../../platform/core/errors.ts';
import { FairTurns } from '../../../platform/core/fair-turns.ts';

export interface ExportText {
  name: string;
  content: Uint8Array;
}

export interface DiffTask {
  before: ExportText;
  after: ExportText;
}

export interface DiffText {
  diff: string;
  truncated: boolean;
  /** Correct, but not the shortest diff: there are too many differences. */
  coarse: boolean;
}

/** Threads at the same time. Two, so that one team's large exports do not delay another team's small ones. */
const AT_ONCE = { total: 2, perParty: 1, perMember: 1 } as const;
export const DIFF_LIMITS = {
  /** Waiting comparisons, in total and per team. Their exports are read only when their turn comes. */
  waiting: 200,
  waitingOfTeam: 20,
  /** From the start of the thread. Two exports of 8 MB take two seconds on an idle machine. */
  deadlineMs: 20_000,
  /** Two exports of 8 MB, their lines, numbers and search trace take about 200 MB. */
  heapMb: 512,
} as const;

/** Compares exports in worker threads, with limits on number, time and memory. Teams take turns. */
export class DiffThreads {
  readonly #turns = new FairTurns(AT_ONCE);
  readonly #waiting = new Map<string, number>();
  readonly #counters: Counters;

  constructor(counters: Counters) {
    this.#counters = counters;
  }

  /**
   * @param read called when the team's turn has come, so that waiting comparisons hold no exports in memory
   * @param signal ends the thread when the caller has disconnected
   * @throws AppError `rate_limited` when too many wait, `too_large` for too much time or memory, and whatever `read` throws
   */
  async compare(teamId: string, read: () => Promise<DiffTask>, signal?: AbortSignal): Promise<DiffText> {
    const own = this.#waiting.get(teamId) ?? 0;
    if (own >= DIFF_LIMITS.waitingOfTeam || this.#turns.waiting >= DIFF_LIMITS.waiting) {
      this.#counters.add('diff_queue');
      throw new AppError('rate_limited', 'too many backup comparisons are waiting; try again later', {
        retryAfterMs: DIFF_LIMITS.deadlineMs,
      });
    }
    this.#waiting.set(teamId, own + 1);
    try {
      return await this.#turns.run({ party: teamId, member: undefined }, async () =>
        this.#run(await this.#unlessGone(read, signal), signal),
      );
    } finally {
      const left = (this.#waiting.get(teamId) ?? 1) - 1;
      if (left > 0) this.#waiting.set(teamId, left);
      else this.#waiting.delete(teamId);
    }
  }

  async #unlessGone(read: () => Promise<DiffTask>, signal: AbortSignal | undefined): Promise<DiffTask> {
    if (signal?.aborted) throw gone();
    return read();
  }

  async #run(task: DiffTask, signal: AbortSignal | undefined): Promise<DiffText> {
    if (signal?.aborted) throw gone();
    const worker = new Worker(new URL('./diff-worker.ts', import.meta.url), {
      workerData: task,
      resourceLimits: { maxOldGenerationSizeMb: DIFF_LIMITS.heapMb },
    });
    const deadline = AbortSignal.timeout(DIFF_LIMITS.deadlineMs);
    try {
      const [text] = (await once(worker, 'message', { signal: AbortSignal.any([deadline, ...(signal ? [signal] : [])]) })) as [DiffText];
      return text;
    } catch (error) {
      if (signal?.aborted) throw gone();
      if (!deadline.aborted && !isOutOfMemory(error)) throw error;
      this.#counters.add('diff_time');
      throw new AppError('too_large', 'the two exports are too large or too different to be compared: download and compare them yourself', {
        cause: error,
      });
    } finally {
      await worker.terminate();
    }
  }
}

function gone(): AppError {
  return new AppError('unavailable', 'the caller has gone');
}

function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
}
