import { FewMap } from './few.ts';

/** Widths of the steps: a quantile is right to 7 %. */
const STEP = Math.log(1.15);
/** Everything below is the first step, milliseconds. */
const LEAST_MS = 0.1;
/** Up to 66 s: a ping that takes longer is lost, because the next one has left. */
const STEPS = 96;

/** Round trips as they are stored. Without an answered ping `least` and `most` are null and `counts` is empty. */
export interface StoredRoundTrips {
  /** Microseconds. */
  least: number | null;
  most: number | null;
  /** `27:12,28:3`: how many round trips fell into which width. */
  counts: string;
}

/** Round trips of one tunnel or one step of time, however many: those of one line are nearly all in a few widths. */
export class RoundTrips {
  /** How many are in which width; only those with any. */
  readonly #counts = new FewMap<number, number>();
  #least = Number.POSITIVE_INFINITY;
  #most = 0;
  #count = 0;
  #last: number | null = null;

  add(ms: number): void {
    const step = Math.floor(Math.log(Math.max(ms, LEAST_MS) / LEAST_MS) / STEP);
    const index = Math.min(step, STEPS - 1);
    this.#addTo(index, 1);
    this.#least = Math.min(this.#least, ms);
    this.#most = Math.max(this.#most, ms);
    this.#count += 1;
    this.#last = ms;
  }

  /** Adds those of another step. */
  addStored({ least, most, counts }: StoredRoundTrips): void {
    if (least === null || most === null) return;
    this.#least = Math.min(this.#least, least / 1000);
    this.#most = Math.max(this.#most, most / 1000);
    for (const pair of counts.split(',')) {
      const [index = 0, count = 0] = pair.split(':').map(Number);
      this.#addTo(index, count);
      this.#count += count;
    }
  }

  get stored(): StoredRoundTrips {
    if (this.#count === 0) return { least: null, most: null, counts: '' };
    const counts = this.#ascending().map(([index, count]) => `${index}:${count}`);
    return { least: Math.round(this.#least * 1000), most: Math.round(this.#most * 1000), counts: counts.join(',') };
  }

  get count(): number {
    return this.#count;
  }

  /** Milliseconds; null before the first. */
  get last(): number | null {
    return this.#last;
  }

  get min(): number | null {
    return this.#count === 0 ? null : this.#least;
  }

  /** Milliseconds; null before the first. @param share 0.5 for the median */
  quantile(share: number): number | null {
    let left = Math.max(1, Math.ceil(this.#count * share));
    for (const [index, count] of this.#ascending()) {
      left -= count;
      if (left > 0) continue;
      const middle = LEAST_MS * Math.exp((index + 0.5) * STEP);
      return Math.min(this.#most, Math.max(this.#least, middle));
    }
    return null;
  }

  #addTo(index: number, count: number): void {
    this.#counts.set(index, (this.#counts.get(index) ?? 0) + count);
  }

  #ascending(): [number, number][] {
    return [...this.#counts].sort(([one], [other]) => one - other);
  }
}
