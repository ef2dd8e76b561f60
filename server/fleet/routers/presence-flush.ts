import type { Clock } from '../../platform/core/clock.ts';
import type { Counters } from '../../platform/core/counters.ts';
import { inFewSizes } from '../../platform/core/few-sizes.ts';
import type { Log } from '../../platform/core/log.ts';
import { sampledLog } from '../../platform/core/sampled-log.ts';
import type { Storage } from '../../platform/storage/db.ts';
import { storeApart } from '../../platform/core/store-apart.ts';
import type { PresenceTracker } from './presence.ts';
import { PRESENCE_CHUNK, upsertPresence } from './store.ts';

/** A router whose presence the database rejects is skipped for this long: isolating its row takes many writes each time. */
const LEFT_OUT_MS = 10 * 60_000;

interface FlushDeps {
  storage: Storage;
  clock: Clock;
  log: Log;
  counters?: Counters;
  /** Where several control planes serve the database: called when something was stored. */
  onStored?: (() => void) | undefined;
}

/** Writes changed presence to the database. */
export class PresenceFlush {
  readonly #deps: FlushDeps;
  readonly #board: PresenceTracker;
  readonly #log: Log;
  /** By router id, until when it is skipped. At most one entry per router. */
  readonly #leftOut = new Map<string, number>();

  constructor(deps: FlushDeps, board: PresenceTracker) {
    this.#deps = deps;
    this.#board = board;
    this.#log = sampledLog(deps.log, deps.clock);
  }

  /** Never rejects: what cannot be stored now is retried with the next flush. */
  async run(): Promise<void> {
    const now = this.#deps.clock.monotonic();
    for (const [routerId, until] of this.#leftOut) if (until <= now) this.#leftOut.delete(routerId);
    const changed = this.#board.takeChanged().filter(({ routerId }) => !this.#leftOut.has(routerId));
    for (const chunk of inFewSizes(changed, PRESENCE_CHUNK)) await this.#store(chunk);
    if (changed.length > 0) this.#deps.onStored?.();
  }

  async #store(chunk: ReturnType<PresenceTracker['takeChanged']>): Promise<void> {
    const { storage, clock, counters, onStored } = this.#deps;
    const { refused, left, error } = await storeApart(chunk, (rows) =>
      storage.writes.write((tx) => upsertPresence(tx, rows, onStored !== undefined)),
    );
    for (const { row, error: reason } of refused) {
      this.#leftOut.set(row.routerId, clock.monotonic() + LEFT_OUT_MS);
      this.#log.error(
        { err: reason, router_id: row.routerId },
        'the database rejects the presence of a router; it is skipped for ten minutes',
      );
    }
    counters?.refuseRows('presence', refused.length);
    if (left.length === 0) return;
    this.#board.markChanged(left.map(({ routerId }) => routerId));
    this.#deps.log.warn({ err: error, count: left.length }, 'presence could not be stored');
  }
}
