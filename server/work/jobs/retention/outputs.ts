import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../../../platform/core/clock.ts';
import type { Counters } from '../../../platform/core/counters.ts';
import type { Log } from '../../../platform/core/log.ts';
import { Periodic } from '../../../platform/core/periodic.ts';
import type { Storage } from '../../../platform/storage/db.ts';
import type { JobRecord } from '../types.ts';
import { forgetOutputs, selectOutputSizes } from './store.ts';

/** Bytes of outputs that one team can keep: 80,000 outputs of the maximum size, or years of ordinary ones. */
export const KEPT_OUTPUT_BYTES = 5 * 1024 ** 3;
/** When a team has stored this share of its bytes since the last sweep, the next sweep begins at once. */
const SWEEP_AFTER_SHARE = 1 / 20;
/** Otherwise the amount of output changes slowly. */
const SWEEP_EVERY_MS = 3600_000;
/** Jobs read in one statement: about a millisecond. */
const CHUNK = 500;

export interface OutputRetentionDeps {
  storage: Storage;
  clock: Clock;
  log: Log;
  counters?: Counters | undefined;
  /** For tests. */
  keepBytes?: number;
}

const FAILURE = 'the sweep of old job outputs failed; the next one tries again';

/**
 * Bounds the outputs kept for each team: a key can store 64 kB with every job, and jobs are kept for more than a year. When
 * a team exceeds its bytes, its oldest outputs are deleted; the jobs stay.
 */
export class OutputRetention {
  readonly #deps: OutputRetentionDeps;
  readonly #keepBytes: number;
  /** Bytes that each team has stored since the last sweep. */
  readonly #stored = new Map<string, number>();
  readonly #sweeps: Periodic;
  #sweeping: Promise<void> | undefined;

  constructor(deps: OutputRetentionDeps) {
    this.#deps = deps;
    this.#keepBytes = deps.keepBytes ?? KEPT_OUTPUT_BYTES;
    this.#sweeps = new Periodic({ clock: deps.clock, log: deps.log, everyMs: SWEEP_EVERY_MS, failure: FAILURE, run: () => this.sweep() });
  }

  start(): void {
    this.#sweeps.start();
  }

  async stop(): Promise<void> {
    await this.#sweeps.stop();
    await this.#sweeping;
  }

  /** A job's row has changed. */
  changed({ team_id: teamId, output }: Pick<JobRecord, 'team_id' | 'output'>): void {
    if (output === null || output === '') return;
    const stored = (this.#stored.get(teamId) ?? 0) + Buffer.byteLength(output);
    this.#stored.set(teamId, stored);
    if (stored >= this.#keepBytes * SWEEP_AFTER_SHARE) void this.sweep();
  }

  /** Sums up the outputs of all teams, newest first, in small steps. Never rejects; one sweep at a time. */
  sweep(): Promise<void> {
    this.#sweeping ??= this.#sweep()
      .catch((error: unknown) => this.#deps.log.warn({ err: error }, FAILURE))
      .finally(() => (this.#sweeping = undefined));
    return this.#sweeping;
  }

  async #sweep(): Promise<void> {
    this.#stored.clear();
    const kept = new Map<string, number>();
    for (let before: string | undefined; !this.#sweeps.isStopped;) {
      const jobs = await selectOutputSizes(this.#deps.storage.db, before, CHUNK);
      const beyond = jobs.filter(({ teamId, bytes }) => {
        const sum = (kept.get(teamId) ?? 0) + bytes;
        kept.set(teamId, sum);
        return bytes > 0 && sum > this.#keepBytes;
      });
      if (beyond.length > 0) await this.#forget(beyond.map(({ id }) => id));
      before = jobs.at(-1)?.id;
      if (jobs.length < CHUNK) return;
      await setImmediate();
    }
  }

  async #forget(ids: readonly string[]): Promise<void> {
    await this.#deps.storage.writes.write((tx) => forgetOutputs(tx, ids));
    this.#deps.counters?.add('job_output_bytes_per_team');
  }
}
