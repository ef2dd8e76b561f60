/**
 * Maps and sets of which there is one for every agent or router, and which nearly always hold none or a few entries. A `Map` or `Set` takes 200
 * bytes from the first entry on (V8 13.6), and 32 without any: with ten thousand agents that is megabytes for nothing.
 */

/** Up to so many entries are looked through one by one, which is as fast as a hash. */
const FEW = 8;

const NONE: readonly never[] = [];

/** A `Map` in the order of insertion that takes little memory while it is small. */
export class FewMap<K, V> {
  /** Key, value, key, value … */
  #entries: (K | V)[] | Map<K, V> = NONE as never;

  constructor(entries: Iterable<readonly [K, V]> = NONE) {
    for (const [key, value] of entries) this.set(key, value);
  }

  get size(): number {
    return Array.isArray(this.#entries) ? this.#entries.length / 2 : this.#entries.size;
  }

  has(key: K): boolean {
    return Array.isArray(this.#entries) ? indexOf(this.#entries, key) >= 0 : this.#entries.has(key);
  }

  get(key: K): V | undefined {
    if (!Array.isArray(this.#entries)) return this.#entries.get(key);
    const index = indexOf(this.#entries, key);
    return index < 0 ? undefined : (this.#entries[index + 1] as V);
  }

  set(key: K, value: V): this {
    const entries = this.#entries;
    if (!Array.isArray(entries)) {
      entries.set(key, value);
      return this;
    }
    const index = indexOf(entries, key);
    if (index >= 0) entries[index + 1] = value;
    // Neither pushed nor spread: an array that grows takes room for 16 more.
    else if (entries.length < 2 * FEW) this.#entries = entries.concat([key, value]);
    else this.#entries = new Map(this).set(key, value);
    return this;
  }

  /** @returns whether there was such an entry */
  delete(key: K): boolean {
    if (!Array.isArray(this.#entries)) return this.#entries.delete(key);
    const index = indexOf(this.#entries, key);
    if (index < 0) return false;
    this.#entries = this.#entries.length === 2 ? (NONE as never) : this.#entries.toSpliced(index, 2);
    return true;
  }

  *keys(): Generator<K, void> {
    for (const [key] of this) yield key;
  }

  *values(): Generator<V, void> {
    for (const [, value] of this) yield value;
  }

  *[Symbol.iterator](): Generator<[K, V], void> {
    const entries = this.#entries;
    if (!Array.isArray(entries)) yield* entries;
    else for (let index = 0; index < entries.length; index += 2) yield [entries[index] as K, entries[index + 1] as V];
  }
}

function indexOf(entries: readonly unknown[], key: unknown): number {
  for (let index = 0; index < entries.length; index += 2) if (entries[index] === key) return index;
  return -1;
}

/** A `Set` in the order of insertion that takes little memory while it is small. */
export class FewSet<T> {
  readonly #values: FewMap<T, true>;

  constructor(values: Iterable<T> = NONE) {
    this.#values = new FewMap();
    for (const value of values) this.add(value);
  }

  get size(): number {
    return this.#values.size;
  }

  has(value: T): boolean {
    return this.#values.has(value);
  }

  add(value: T): this {
    this.#values.set(value, true);
    return this;
  }

  /** @returns whether it was there */
  delete(value: T): boolean {
    return this.#values.delete(value);
  }

  [Symbol.iterator](): Generator<T, void> {
    return this.#values.keys();
  }
}
