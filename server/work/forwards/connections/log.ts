import type { Clock, Timer } from '../../../platform/core/clock.ts';
import type { Counters } from '../../../platform/core/counters.ts';
import { dropFromLargest } from '../../../platform/core/drop-from-largest.ts';
import type { Log } from '../../../platform/core/log.ts';
import { sampledLog } from '../../../platform/core/sampled-log.ts';
import type { Storage } from '../../../platform/storage/db.ts';
import { storeApart } from '../../../platform/core/store-apart.ts';
import { insertConnections } from './store.ts';
import type { LoggedConnection } from './store.ts';
import { OpenConnections } from './open.ts';
import { addCounts } from '../store.ts';
import type { ForwardCounts, ForwardKey } from '../store.ts';
import type { ConnectionSummary } from '../types.ts';

/**
 * This many rows are written at once. A commit costs as much as 500 rows (`synchronous=FULL`). Larger batches would delay
 * open connections: 1,000 rows take 3 ms.
 */
const BATCH = 1000;

/** Finished connections that can wait for the database. Beyond that, the oldest of the team with most of them are dropped. */
export const MAX_WAITING = 20_000;
/** Dropped at a time, because each drop scans the whole queue, which takes a few milliseconds. */
const DROPPED_AT_ONCE = 500;

/** Counts of one forward that are not in the database yet. */
interface Unwritten extends ForwardCounts {
  key: ForwardKey;
  lastRefused: string;
}

/** One row of a batch. */
type Row = { connection: LoggedConnection } | { counts: Unwritten };

const NOTHING: ForwardCounts = { refused: 0, connections: 0, bytesIn: 0, bytesOut: 0 };

interface ConnectionLogDeps {
  storage: Storage;
  clock: Clock;
  log: Log;
  flushMs: number;
  /** The connections that are open now. */
  open: () => Iterable<LoggedConnection>;
  counters?: Counters | undefined;
  /** This control plane, of several. */
  nodeId?: string | undefined;
}

/** Writes finished connections and refused attempts in batches, so that a port scan costs one statement a second. */
export class ConnectionLog {
  readonly #deps: ConnectionLogDeps;
  readonly #log: Log;
  readonly #open: OpenConnections;
  #connections: LoggedConnection[] = [];
  readonly #unwritten = new Map<string, Unwritten>();
  #timer: Timer | undefined;
  #flushing: Promise<void> = Promise.resolve();
  #isStopped = false;

  constructor(deps: ConnectionLogDeps) {
    this.#deps = deps;
    this.#log = sampledLog(deps.log, deps.clock);
    this.#open = new OpenConnections(deps);
  }

  /** Call it before the first connection of this process. @throws a storage error */
  start(): Promise<void> {
    return this.#open.start();
  }

  /** Ends what control planes that were killed left open. @throws a storage error */
  settle(): Promise<void> {
    return this.#open.settle();
  }

  /** Never rejects. Call it when no connection is open any more. What the database does not take now is lost. */
  async stop(): Promise<void> {
    await this.#open.stop();
    this.#isStopped = true;
    await this.flush();
  }

  connectionClosed(key: ForwardKey, summary: ConnectionSummary): void {
    const counts = this.#countsOf(key);
    counts.connections += 1;
    counts.bytesIn += summary.bytesIn;
    counts.bytesOut += summary.bytesOut;
    this.#connections.push({ ...summary, teamId: key.teamId, forwardId: key.id });
    this.#makeRoom();
    if (this.#connections.length === BATCH) void this.flush();
    else this.#schedule();
  }

  refused(key: ForwardKey, source: string): void {
    const counts = this.#countsOf(key);
    counts.refused += 1;
    counts.lastRefused = source;
    this.#schedule();
  }

  /** What the record in the database lacks. */
  unwritten(forwardId: string): Readonly<ForwardCounts> {
    return this.#unwritten.get(forwardId) ?? NOTHING;
  }

  /** Stores what is waiting; never rejects. */
  async flush(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#flushing = this.#flushing.then(() => this.#write());
    await this.#flushing;
  }

  #makeRoom(): void {
    while (this.#connections.length > MAX_WAITING) {
      this.#connections = dropFromLargest(this.#connections, ({ teamId }) => teamId, DROPPED_AT_ONCE);
    }
  }

  #schedule(): void {
    this.#timer ??= this.#deps.clock.setTimeout(() => void this.flush(), this.#deps.flushMs);
  }

  #countsOf(key: ForwardKey): Unwritten {
    const counts = this.#unwritten.get(key.id) ?? { ...NOTHING, key, lastRefused: '' };
    this.#unwritten.set(key.id, counts);
    return counts;
  }

  async #write(): Promise<void> {
    const connections = this.#connections;
    // A copy, because the counts grow while it is written.
    const batch = [...this.#unwritten.values()].map((counts) => ({ ...counts }));
    if (batch.length === 0) return;
    this.#connections = [];
    const rows: Row[] = [...connections.map((connection) => ({ connection })), ...batch.map((counts) => ({ counts }))];
    const { refused, left, error } = await storeApart(rows, (part) => this.#store(part));
    for (const { row, error: reason } of refused) this.#logRefused(row, reason);
    this.#deps.counters?.refuseRows('connections', refused.length);
    const waiting = new Set(left);
    for (const row of rows) if ('counts' in row && !waiting.has(row)) this.#written(row.counts);
    if (left.length === 0) return;
    const again = left.flatMap((row) => ('connection' in row ? [row.connection] : []));
    if (this.#isStopped) {
      this.#deps.log.error(
        { err: error, count: again.length },
        'connections of forwards are lost: they could not be stored before the end',
      );
      return;
    }
    this.#deps.log.warn({ err: error, count: again.length }, 'connections of forwards could not be stored');
    this.#connections = [...again, ...this.#connections];
    this.#makeRoom();
    this.#schedule();
  }

  async #store(rows: readonly Row[]): Promise<void> {
    await this.#deps.storage.writes.write(async (tx) => {
      await insertConnections(
        tx,
        rows.flatMap((row) => ('connection' in row ? [row.connection] : [])),
        this.#deps.nodeId ?? null,
      );
      for (const row of rows) if ('counts' in row) await addCounts(tx, row.counts.key, row.counts);
    });
  }

  #logRefused(row: Row, reason: unknown): void {
    const { teamId, id } = 'connection' in row ? { teamId: row.connection.teamId, id: row.connection.forwardId } : row.counts.key;
    this.#log.error(
      { err: reason, team_id: teamId, forward_id: id },
      'the database rejects a connection or a count of a forward; it is dropped',
    );
  }

  /** Counts added while the batch was written stay for the next one. */
  #written({ key, refused, connections, bytesIn, bytesOut, lastRefused }: Unwritten): void {
    if (refused > 0) {
      this.#deps.log.info({ team_id: key.teamId, forward_id: key.id, source: lastRefused, count: refused }, 'connection attempts refused');
    }
    const counts = this.#unwritten.get(key.id);
    if (!counts) return;
    counts.refused -= refused;
    counts.connections -= connections;
    counts.bytesIn -= bytesIn;
    counts.bytesOut -= bytesOut;
    if (counts.refused === 0 && counts.connections === 0) this.#unwritten.delete(key.id);
  }
}
