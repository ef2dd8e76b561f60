import { LRUCache } from 'lru-cache';
import type { RawBuilder } from 'kysely';
import type { Clock } from '../core/clock.ts';
import { Gathered, READS_AT_ONCE } from '../core/gathered.ts';
import type { Log } from '../core/log.ts';
import { Periodic } from '../core/periodic.ts';
import { REQUEST_WINDOW_MS } from '../core/request-window.ts';
import type { Count, RequestWindow, SharedWindows } from '../core/request-window.ts';
import type { Storage } from '../storage/db.ts';
import { BLOCK_MS, countRequests, deleteOldCounts, MAX_SINGLE } from './store.ts';
import type { Asked, Counted } from './store.ts';

/** Keys of one statement. */
const KEYS_AT_ONCE = 200;
/** About 200 bytes each. A key that is not remembered costs a statement. */
const REMEMBERED_KEYS = 100_000;
/** What was read of a key is not read again for so long, milliseconds. */
const FRESH_MS = 1000;
/** Another control plane may have given a request back, so a refusal is not believed for longer, milliseconds. */
const REFUSED_FOR_MS = 5000;
const SWEEP_EVERY_MS = 60_000;

interface Item {
  key: string;
  most: number;
  /** 1 to take one, 0 to look, -1 to give one back. */
  wanted: 1 | 0 | -1;
  /** What is given back was counted at this moment of the database or later, microseconds. */
  since?: number;
}

/** What this process knows of a key. Times are elapsed milliseconds. */
interface Known {
  most: number;
  /** Requests in the window when they were read, those of {@link permits} included. */
  total: number;
  readAt: number;
  /** The same moment or an earlier one by the clock of the database, microseconds. */
  databaseAt: number;
  /** When the oldest of them leaves the window. */
  roomAt: number;
  /** Counted for this process, and not used yet. */
  permits: number;
  /** Before the block of these permits was asked for. */
  blockAt: number;
  refusedUntil: number;
}

export interface SharedCountsDeps {
  storage: Storage;
  clock: Pick<Clock, 'monotonic' | 'setTimeout'>;
  log: Log;
  /** Whether this control plane is the one that deletes old rows. */
  isSweeper: () => boolean;
  windowMs?: number;
  /** Instead of the clock of the database, microseconds. */
  databaseNow?: RawBuilder<number>;
}

/**
 * Counts requests in PostgreSQL, by its clock, for all control planes together: exactly up to {@link MAX_SINGLE} in the window, one by one. Beyond
 * that a control plane takes 1/600 of the limit at once and uses it up within a second, so that few requests cost a statement; what it does
 * not use is lost. The requests of one turn of the event loop share a statement. What is refused here is remembered and costs none.
 *
 * When the database is away nobody is counted, and so nobody is served: the same database knows who they are.
 */
export class SharedCounts implements SharedWindows {
  readonly #deps: SharedCountsDeps;
  readonly #windowMs: number;
  readonly #known = new LRUCache<string, Known>({ max: REMEMBERED_KEYS });
  readonly #counting: Gathered<Item, Count>;
  readonly #givingBack: Gathered<Item, Count>;
  readonly #sweeps: Periodic;

  constructor(deps: SharedCountsDeps) {
    this.#deps = deps;
    this.#windowMs = deps.windowMs ?? REQUEST_WINDOW_MS;
    const { clock, log } = deps;
    this.#counting = new Gathered({ most: KEYS_AT_ONCE, atOnce: READS_AT_ONCE, run: (items) => this.#count(items) });
    this.#givingBack = new Gathered({ most: KEYS_AT_ONCE, run: (items) => this.#count(items) });
    this.#sweeps = new Periodic({
      clock,
      log,
      everyMs: SWEEP_EVERY_MS,
      failure: 'old counts of requests could not be deleted',
      run: async () => (deps.isSweeper() ? deleteOldCounts(deps.storage.db, this.#options) : undefined),
    });
  }

  start(): void {
    this.#sweeps.start();
  }

  async stop(): Promise<void> {
    await this.#sweeps.stop();
    await this.#counting.stop();
    await this.#givingBack.stop();
  }

  of(scope: string): RequestWindow {
    return {
      take: (key, max) => this.#take(`${scope} ${key}`, max),
      look: (key, max) => this.#look(`${scope} ${key}`, max),
      giveBack: (key, since) => this.#giveBack(`${scope} ${key}`, since),
    };
  }

  get #options() {
    const { databaseNow } = this.#deps;
    return { windowMs: this.#windowMs, ...(databaseNow ? { now: databaseNow } : {}) };
  }

  async #take(key: string, most: number): Promise<Count> {
    const now = this.#deps.clock.monotonic();
    const known = this.#known.get(key);
    if (known && now < known.refusedUntil) return { current: most + 1, ttl: known.roomAt - now };
    if (known && permitsOf(known, now) > 0) {
      known.permits -= 1;
      return { current: known.total - known.permits, ttl: known.roomAt - now };
    }
    return this.#counting.call({ key, most, wanted: 1 });
  }

  async #look(key: string, most: number): Promise<Count> {
    const now = this.#deps.clock.monotonic();
    const known = this.#known.get(key);
    if (!known || now - known.readAt > FRESH_MS) return this.#counting.call({ key, most, wanted: 0 });
    return { current: known.total - permitsOf(known, now), ttl: Math.max(0, known.roomAt - now) };
  }

  #giveBack(key: string, since: number): void {
    const known = this.#known.get(key);
    if (!known) return;
    if (known.most > MAX_SINGLE) {
      // A permit of an older block may not be used any more.
      if (since >= known.blockAt && known.permits < known.total) known.permits += 1;
      return;
    }
    known.refusedUntil = 0;
    const counted = known.databaseAt + Math.floor((since - known.readAt) * 1000);
    this.#givingBack.call({ key, most: known.most, wanted: -1, since: counted }).catch((error: unknown) => {
      this.#deps.log.debug({ err: error }, 'a request stays counted');
    });
  }

  async #count(items: readonly Item[]): Promise<Count[]> {
    const { storage, clock } = this.#deps;
    const byKey = new Map<string, Item[]>();
    for (const item of items) {
      const same = byKey.get(item.key);
      if (same) same.push(item);
      else byKey.set(item.key, [item]);
    }
    const sentAt = clock.monotonic();
    const counted = await countRequests(storage.db, [...byKey.values()].map(askedOf), this.#options);
    const readAt = clock.monotonic();
    const answers = new Map<Item, Count>();
    for (const each of counted) {
      const same = byKey.get(each.key)!;
      this.#known.set(each.key, knownOf(each, same, { sentAt, readAt }));
      for (const [index, count] of countsOf(each, same).entries()) answers.set(same[index]!, count);
    }
    return items.map((item) => answers.get(item) ?? { current: 0, ttl: 0 });
  }
}

/** One row for all that ask for the same key. */
function askedOf(same: readonly Item[]): Asked {
  const { key, most } = same[0]!;
  const sum = same.reduce((total, { wanted }) => total + wanted, 0);
  const block = most > MAX_SINGLE ? Math.ceil(most / MAX_SINGLE) : 0;
  return { key, most, wanted: sum > 0 ? Math.max(sum, block) : sum, since: Math.min(...same.map(({ since = 0 }) => since)) };
}

/** The first that asked are the first that are served. */
function countsOf({ granted, total, ttl }: Counted, same: readonly Item[]): Count[] {
  const asking = same.filter(({ wanted }) => wanted === 1).length;
  const before = total - granted;
  let served = 0;
  return same.map(({ wanted, most }) => {
    if (wanted !== 1) return { current: total - Math.max(0, granted - asking), ttl };
    if (served >= granted) return { current: most + 1, ttl };
    served += 1;
    return { current: before + served, ttl };
  });
}

function knownOf(
  { granted, total, ttl, at }: Counted,
  same: readonly Item[],
  { sentAt, readAt }: { sentAt: number; readAt: number },
): Known {
  const asking = same.filter(({ wanted }) => wanted === 1).length;
  const { most } = same[0]!;
  const isRefused = granted < asking;
  return {
    most,
    total,
    readAt,
    databaseAt: at,
    roomAt: readAt + ttl,
    permits: Math.max(0, granted - asking),
    blockAt: sentAt,
    refusedUntil: isRefused ? readAt + Math.min(ttl, REFUSED_FOR_MS) : 0,
  };
}

/** The permits that may be used now. */
function permitsOf({ permits, blockAt }: Known, now: number): number {
  return now - blockAt < BLOCK_MS ? permits : 0;
}
