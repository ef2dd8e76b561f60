/** A RouterOS version such as `7.18.2`, `6.49.18` or `7.20beta5`, comparable. */
export class RouterVersion {
  readonly text: string;
  readonly #parts: readonly number[];

  constructor(text: string) {
    const match = /^(\d+)\.(\d+)(?:\.(\d+))?/.exec(text);
    if (!match) throw new RangeError(`not a RouterOS version: ${text}`);
    this.text = text;
    this.#parts = [Number(match[1]), Number(match[2]), Number(match[3] ?? 0)];
  }

  get major(): number {
    return this.#parts[0] ?? 0;
  }

  /** Negative, zero or positive; betas count as the release they lead to. */
  compare(other: RouterVersion | string): number {
    const right = typeof other === 'string' ? new RouterVersion(other) : other;
    for (let index = 0; index < 3; index += 1) {
      const difference = (this.#parts[index] ?? 0) - (right.#parts[index] ?? 0);
      if (difference !== 0) return difference;
    }
    return 0;
  }

  atLeast(other: RouterVersion | string): boolean {
    return this.compare(other) >= 0;
  }

  /** True inside `[since, until)`; a missing end is open. */
  within(range: { since?: string; until?: string }): boolean {
    if (range.since !== undefined && !this.atLeast(range.since)) return false;
    return range.until === undefined || !this.atLeast(range.until);
  }
}
