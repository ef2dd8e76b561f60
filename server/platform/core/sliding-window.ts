import type { Count } from './request-window.ts';

/** Timestamps kept per key; with a higher limit several requests share one timestamp, the latest of theirs. */
const MAX_MOMENTS = 600;
/** Keys of one generation at once: one per API key and per network without a credential. */
const MAX_KEYS = 100_000;

/**
 * Counts requests by key in a window that slides: never more than `max` in any stretch of `windowMs`, wherever it begins. A refused
 * request is not counted. Up to {@link MAX_MOMENTS} requests it is exact; beyond that a request may count 1/600 of the window
 * too long, never too short. Time is monotonic, so that setting the clock has no effect.
 */
export class SlidingWindow {
  readonly #windowMs: number;
  readonly #monotonic: () => number;
  readonly #maxKeys: number;
  /** Two generations: a key without a request for a whole window expires with the older one. */
  #recent = new Map<string, Log>();
  #older = new Map<string, Log>();
  #turnedAt: number;

  /**
   * @param monotonic monotonic milliseconds
   * @param maxKeys keys kept at once, and as many again of the window before
   */
  constructor(windowMs: number, monotonic: () => number, maxKeys = MAX_KEYS) {
    this.#windowMs = windowMs;
    this.#maxKeys = maxKeys;
    this.#monotonic = monotonic;
    this.#turnedAt = monotonic();
  }

  /** Counts one request, if there is room for it. */
  take(key: string, max: number): Count {
    const now = this.#monotonic();
    this.#turn(now);
    const log = this.#logOf(key);
    log.forgetUntil(now - this.#windowMs);
    const isFull = log.total >= max;
    if (!isFull) log.add(now, max <= MAX_MOMENTS ? 0 : this.#windowMs / MAX_MOMENTS);
    return { current: isFull ? max + 1 : log.total, ttl: log.oldest + this.#windowMs - now };
  }

  /** Whether one more would be refused. Counts nothing. */
  isFull(key: string, max: number): boolean {
    const log = this.#recent.get(key) ?? this.#older.get(key);
    if (!log) return false;
    log.forgetUntil(this.#monotonic() - this.#windowMs);
    return log.total >= max;
  }

  /** How many are in the window now, and when the oldest leaves it. Counts nothing. */
  look(key: string): Count {
    const now = this.#monotonic();
    this.#turn(now);
    const log = this.#logOf(key);
    log.forgetUntil(now - this.#windowMs);
    return { current: log.total, ttl: log.total === 0 ? 0 : log.oldest + this.#windowMs - now };
  }

  /** Takes back one request of a key: the first that was counted at that moment (by the same clock) or later. */
  giveBack(key: string, since: number): void {
    (this.#recent.get(key) ?? this.#older.get(key))?.giveBack(since);
  }

  #logOf(key: string): Log {
    const known = this.#recent.get(key);
    if (known) return known;
    const log = this.#older.get(key) ?? new Log();
    this.#recent.set(key, log);
    return log;
  }

  #turn(now: number): void {
    if (now - this.#turnedAt < this.#windowMs && this.#recent.size < this.#maxKeys) return;
    this.#older = this.#recent;
    this.#recent = new Map();
    this.#turnedAt = now;
  }
}

/** When requests came, oldest first. */
class Log {
  total = 0;
  readonly #moments: number[] = [];
  /** Requests of each moment, and when the first of them came. */
  readonly #counts: number[] = [];
  #latestBegan = 0;

  get oldest(): number {
    return this.#moments[0] ?? 0;
  }

  /** @param mergeMs requests within this time share a timestamp */
  add(now: number, mergeMs: number): void {
    this.total += 1;
    const last = this.#moments.length - 1;
    if (last >= 0 && mergeMs > 0 && now - this.#latestBegan < mergeMs) {
      this.#moments[last] = now;
      this.#counts[last]! += 1;
      return;
    }
    this.#moments.push(now);
    this.#counts.push(1);
    this.#latestBegan = now;
  }

  /** Whatever was counted later stays, so the window never holds too few. */
  giveBack(since: number): void {
    const at = this.#moments.findIndex((moment) => moment >= since);
    if (at === -1) return;
    this.total -= 1;
    this.#counts[at]! -= 1;
    if (this.#counts[at]! > 0) return;
    this.#moments.splice(at, 1);
    this.#counts.splice(at, 1);
  }

  forgetUntil(moment: number): void {
    let gone = 0;
    while (gone < this.#moments.length && this.#moments[gone]! <= moment) gone += 1;
    if (gone === 0) return;
    this.#moments.splice(0, gone);
    for (const count of this.#counts.splice(0, gone)) this.total -= count;
  }
}
