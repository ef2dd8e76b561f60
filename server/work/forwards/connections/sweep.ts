import type { Clock } from '../../../platform/core/clock.ts';
import { idFloor } from '../../../platform/core/ids.ts';
import type { Log } from '../../../platform/core/log.ts';
import { Periodic } from '../../../platform/core/periodic.ts';
import type { Storage, Tx } from '../../../platform/storage/db.ts';
import { removeInBatches } from '../../../platform/core/removal-batches.ts';
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
/** Forwards read per query. */
const CHUNK = 500;
/** A forward is open for at most one day. Forwards older than the retention time plus this have no connections left. */
const LONGEST_FORWARD_MS = 2 * 24 * 3_600_000;

/** Deletes finished connections by age and by number, every hour, in small steps. */
export class ConnectionSweep {
  readonly #deps: ConnectionSweepDeps;
  readonly #sweeps: Periodic;

  constructor(deps: ConnectionSweepDeps) {
    this.#deps = deps;
    this.#sweeps = new Periodic({
      clock: deps.clock,
      log: deps.log,
      everyMs: SWEEP_EVERY_MS,
      failure: 'the sweep of old forward connections failed; the next one tries again',
      run: (signal) => this.#sweep(signal),
    });
  }

  start(): void {
    this.#sweeps.start();
  }

  /** Resolves when the batch under way is done. */
  async stop(): Promise<void> {
    await this.#sweeps.stop();
  }

  async #sweep(signal: AbortSignal): Promise<void> {
    const { storage, clock, limits } = this.#deps;
    const oldest = clock.now() - limits.keepConnectionsMs;
    const remove = (step: (tx: Tx, limit: number) => Promise<number>) => removeInBatches(storage, step, { signal });
    await remove((tx, limit) => deleteConnectionsUntil(tx, oldest, limit));
    // Ids begin with the creation time: earlier forwards have no connections left.
    let after = idFloor(Math.max(0, oldest - LONGEST_FORWARD_MS));
    while (!signal.aborted) {
      const keys = await selectForwardKeys(storage.db, after, CHUNK);
      for (const key of keys) {
        if (key.connectionCount > limits.keepConnections)
          await remove((tx, limit) => deleteConnectionsBeyond(tx, key, limits.keepConnections, limit));
      }
      const last = keys.at(-1);
      if (!last || keys.length < CHUNK) return;
      after = last.id;
    }
  }
}
