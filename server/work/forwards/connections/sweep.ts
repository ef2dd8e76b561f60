import type { Clock, Timer } from '../../../platform/core/clock.ts';
import { idFloor } from '../../../platform/core/ids.ts';
import type { Log } from '../../../platform/core/log.ts';
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
  #timer: Timer | undefined;
  #sweeping: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(deps: ConnectionSweepDeps) {
    this.#deps = deps;
  }

  start(): void {
    this.#timer = this.#deps.clock.setTimeout(() => {
      this.#sweeping = this.#sweep()
        .catch((error: unknown) => this.#deps.log.warn({ err: error }, 'old connections of forwards stay'))
        .finally(() => {
          if (!this.#stopped) this.start();
        });
    }, SWEEP_EVERY_MS);
  }

  /** Resolves when the chunk under way is done. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.cancel();
    await this.#sweeping;
  }

  async #sweep(): Promise<void> {
    const { storage, clock, limits } = this.#deps;
    const oldest = clock.now() - limits.keepConnectionsMs;
    await this.#inChunks(() => storage.writes.write((tx) => deleteConnectionsUntil(tx, oldest, CHUNK)));
    // Ids begin with the time, so this is where the forwards begin that may still have connections.
    let after = idFloor(Math.max(0, oldest - LONGEST_FORWARD_MS));
    while (!this.#stopped) {
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
    while (!this.#stopped && (await deleteSome()) === CHUNK);
  }
}
