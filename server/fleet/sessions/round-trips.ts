/** Widths of the steps: a quantile is right to 7 %. */
const STEP = Math.log(1.15);
/** Everything below is the first step, milliseconds. */
const LEAST_MS = 0.1;
/** Up to 66 s: a ping that takes longer is lost, because the next one has left. */
const STEPS = 96;

/** Round trips of one tunnel, however long it lives, in 400 bytes. */
export class RoundTrips {
  readonly #counts = new Uint32Array(STEPS);
  #least = Number.POSITIVE_INFINITY;
  #most = 0;
  #count = 0;
  #last: number | null = null;

  add(ms: number): void {
    const step = Math.floor(Math.log(Math.max(ms, LEAST_MS) / LEAST_MS) / STEP);
    const index = Math.min(step, STEPS - 1);
    this.#counts[index] = (this.#counts[index] ?? 0) + 1;
    this.#least = Math.min(this.#least, ms);
    this.#most = Math.max(this.#most, ms);
    this.#count += 1;
    this.#last = ms;
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
    for (let index = 0; index < STEPS && this.#count > 0; index += 1) {
      left -= this.#counts[index] ?? 0;
      if (left > 0) continue;
      const middle = LEAST_MS * Math.exp((index + 0.5) * STEP);
      return Math.min(this.#most, Math.max(this.#least, middle));
    }
    return null;
  }
}
