import type { Clock } from '../../../platform/core/clock.ts';
import { idFloor } from '../../../platform/core/ids.ts';
import type { Log } from '../../../platform/core/log.ts';
import { Periodic } from '../../../platform/core/periodic.ts';
import type { Storage } from '../../../platform/storage/db.ts';
import { deleteConnectionsBeyond, deleteConnectionsUntil } from './store.ts';
import type { ForwardLimits } from '../limits.ts';
import { selectForwardKeys } from '../store.ts';

export interface ConnectionSweepDeps {
  storage: Storage;
  clock: Clock;
  log: Log;
  limits: Pick<ForwardLimits, 'keepConnections' | 'keepConnectionsMs'>;
}

const SWEEP_EVERY_MS = 3_600_000;
/** Rows of one delete, and forwards looked at before others get their turn. */
const CHUNK = 500;
/** A forward is open for a day at most: one that is older by this has no connection worth counting. */
const LONGEST_FORWARD_MS = 2 * 24 * 3_600_000;

/** Forgets finished connections by age and by number, every hour and a little at a time. */
export class ConnectionSweep {
  readonly #deps: ConnectionSweepDeps;
  readonly #sweeps: Periodic;

  constructor(deps: ConnectionSweepDeps) {
    this.#deps = deps;
    this.#sweeps = new Periodic({
      clock: deps.clock,
      log: deps.log,
      everyMs: SWEEP_EVERY_MS,
      failure: 'old connections of forwards stay',
      run: () => this.#sweep(),
    });
  }

  start(): void {
    this.#sweeps.start();
  }

  /** Resolves when the chunk under way is done. */
  async stop(): Promise<void> {
    await this.#sweeps.stop();
  }

  async #sweep(): Promise<void> {
    const { storage, clock, limits } = this.#deps;
    const oldest = clock.now() - limits.keepConnectionsMs;
    await this.#inChunks(() => storage.writes.write((tx) => deleteConnectionsUntil(tx, oldest, CHUNK)));
    // Ids begin with the time, so this is where the forwards begin that may still have connections.
    let after = idFloor(Math.max(0, oldest - LONGEST_FORWARD_MS));
    while (!this.#sweeps.isStopped) {
      const keys = await selectForwardKeys(storage.db, after, CHUNK);
      for (const key of keys) {
        await this.#inChunks(() => storage.writes.write((tx) => deleteConnectionsBeyond(tx, key, limits.keepConnections, CHUNK)));
      }
      const last = keys.at(-1);
      if (!last || keys.length < CHUNK) return;
      after = last.id;
    }
  }

  async #inChunks(deleteSome: () => Promise<number>): Promise<void> {
    while (!this.#sweeps.isStopped && (await deleteSome()) === CHUNK);
  }
}
