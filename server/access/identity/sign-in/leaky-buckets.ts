import { LRUCache } from 'lru-cache';

export interface BucketSize {
  /** Events that fit at once. */
  capacity: number;
  /** Time in which one event leaks out, milliseconds. */
  leakMs: number;
  /** Buckets kept at once; the least recently used is forgotten first. */
  remembered: number;
}

/**
 * Counts events by key so that a full bucket never blocks for long: room for one event becomes free every `leakMs`. It stores one
 * number per key, the time at which the bucket will be empty. Time is monotonic time, so that clock changes have no effect.
 */
export class LeakyBuckets {
  readonly #size: BucketSize;
  readonly #monotonic: () => number;
  readonly #emptyAt: LRUCache<string, number>;

  /** @param monotonic monotonic milliseconds */
  constructor(size: BucketSize, monotonic: () => number) {
    this.#size = size;
    this.#monotonic = monotonic;
    this.#emptyAt = new LRUCache({ max: size.remembered });
  }

  /** @returns milliseconds until one more event fits; 0 when it fits now */
  waitFor(key: string): number {
    const { capacity, leakMs } = this.#size;
    return Math.max(0, this.#levelMs(key) - (capacity - 1) * leakMs);
  }

  add(key: string): void {
    this.#emptyAt.set(key, this.#monotonic() + this.#levelMs(key) + this.#size.leakMs);
  }

  /** Takes one event back. */
  remove(key: string): void {
    const levelMs = this.#levelMs(key) - this.#size.leakMs;
    if (levelMs <= 0) this.#emptyAt.delete(key);
    else this.#emptyAt.set(key, this.#monotonic() + levelMs);
  }

  /** How long the bucket takes to become empty. */
  #levelMs(key: string): number {
    return Math.max(0, (this.#emptyAt.get(key) ?? 0) - this.#monotonic());
  }
}
