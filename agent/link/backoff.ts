/** Shortest and longest upper bound of a pause between two dials, milliseconds (protocol/SPEC.md, reconnecting). */
const FIRST_CEILING_MS = 1000;
const LAST_CEILING_MS = 60_000;

/** After a tunnel that was ready this long, in milliseconds, the ceiling starts from the beginning. */
const STABLE_MS = 30_000;

/** A goaway without a pause is obeyed at once after this long, in milliseconds: a server that repeats it must not get a dial for each. */
const AT_ONCE_AFTER_MS = 1000;

/** Result of the last connection. */
export interface LastConnection {
  /** How long it was ready, in milliseconds; 0 if it never was. */
  readyMs: number;
  /** The pause that the server requested in `goaway`, in milliseconds. */
  reconnectAfterMs?: number | undefined;
  /** Over which time the server asked its agents to spread when they lose it, in milliseconds. */
  spreadMs?: number | undefined;
}

/**
 * Pauses between dials, with full jitter: from zero to a ceiling that doubles, so that thousands of agents that lost the same
 * server do not reconnect at the same time.
 */
export class Backoff {
  readonly #random: () => number;
  #failures = 0;

  /** @param random 0 <= x < 1 */
  constructor(random: () => number) {
    this.#random = random;
  }

  /** How long to wait before the next dial, milliseconds. */
  next(last: LastConnection): number {
    if (last.readyMs >= STABLE_MS) this.#failures = 0;
    // The server has spread its agents itself, and what they are asked meanwhile waits for them.
    if (last.reconnectAfterMs === 0 && last.readyMs >= AT_ONCE_AFTER_MS) return 0;
    const usual = Math.min(LAST_CEILING_MS, FIRST_CEILING_MS * 2 ** this.#failures);
    // A server that says goaway has spread its agents itself.
    const ceiling = last.reconnectAfterMs === undefined && last.readyMs > 0 ? Math.max(usual, last.spreadMs ?? 0) : usual;
    this.#failures += 1;
    return Math.floor((last.reconnectAfterMs ?? 0) + this.#random() * ceiling);
  }
}
