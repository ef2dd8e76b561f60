import type { Clock, Timer } from '../core/clock.ts';
import { newId } from '../core/ids.ts';
import type { Log } from '../core/log.ts';
import type { Storage } from '../storage/db.ts';
import { addRefusedAttempts, insertConnections } from './store.ts';
import type { ForwardKey, LoggedConnection } from './store.ts';
import type { ConnectionSummary } from './types.ts';

/**
 * Written at once when so many wait. A commit costs as much as 500 rows (`synchronous=FULL`); much more in one of them
 * would hold up the connections that are open: 1,000 rows take 3 ms.
 */
const BATCH = 1000;

/** Finished connections that may wait for the database; beyond that the oldest are lost rather than memory. */
const MAX_WAITING = 20_000;

interface Refusals {
  key: ForwardKey;
  count: number;
  lastSource: string;
}

/** Writes finished connections and refused attempts in batches, so that a port scan costs one statement a second. */
export class ConnectionLog {
  readonly #deps: { storage: Storage; clock: Clock; log: Log; flushMs: number };
  #connections: LoggedConnection[] = [];
  #refusals = new Map<string, Refusals>();
  #timer: Timer | undefined;
  #flushing: Promise<void> = Promise.resolve();

  constructor(deps: { storage: Storage; clock: Clock; log: Log; flushMs: number }) {
    this.#deps = deps;
  }

  connectionClosed(key: ForwardKey, summary: ConnectionSummary): void {
    if (this.#connections.length >= MAX_WAITING) this.#connections.shift();
    this.#connections.push({ ...summary, id: newId(summary.openedAt), teamId: key.teamId, forwardId: key.id });
    if (this.#connections.length === BATCH) void this.flush();
    else this.#schedule();
  }

  refused(key: ForwardKey, source: string): void {
    const entry = this.#refusals.get(key.id) ?? { key, count: 0, lastSource: source };
    entry.count += 1;
    entry.lastSource = source;
    this.#refusals.set(key.id, entry);
    this.#schedule();
  }

  /** Refused attempts that the database does not know yet. */
  pendingRefusals(forwardId: string): number {
    return this.#refusals.get(forwardId)?.count ?? 0;
  }

  /** Stores what is waiting; never rejects. */
  async flush(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#flushing = this.#flushing.then(() => this.#write());
    await this.#flushing;
  }

  #schedule(): void {
    this.#timer ??= this.#deps.clock.setTimeout(() => void this.flush(), this.#deps.flushMs);
  }

  async #write(): Promise<void> {
    const connections = this.#connections;
    const refusals = [...this.#refusals.values()];
    if (connections.length === 0 && refusals.length === 0) return;
    this.#connections = [];
    try {
      await this.#deps.storage.writes.write(async (tx) => {
        await insertConnections(tx, connections);
        for (const { key, count } of refusals) await addRefusedAttempts(tx, key, count);
      });
    } catch (error) {
      this.#deps.log.warn({ err: error, count: connections.length }, 'connections of forwards could not be stored');
      this.#connections = [...connections, ...this.#connections].slice(-MAX_WAITING);
      return;
    }
    for (const refusal of refusals) this.#stored(refusal);
  }

  /** Attempts that came while the batch was being written stay for the next one. */
  #stored({ key, count, lastSource }: Refusals): void {
    this.#deps.log.info({ team_id: key.teamId, forward_id: key.id, source: lastSource, count }, 'connection attempts refused');
    const now = this.#refusals.get(key.id);
    if (!now) return;
    now.count -= count;
    if (now.count <= 0) this.#refusals.delete(key.id);
  }
}
