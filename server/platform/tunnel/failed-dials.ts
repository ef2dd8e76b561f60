import { LRUCache } from 'lru-cache';
import { networkOf } from '../core/network-of.ts';

/** As many as strangers may send to the API. */
const FAILURES_PER_WINDOW = 60;
const WINDOW_MS = 60_000;
/** Addresses with failures, and visitors that were let in, remembered at once. */
const REMEMBERED = 20_000;

/**
 * Bounds the wrong credentials that one address may try. Whoever was let in from there before is let through: a hundred
 * good agents may stand behind the same address as the one that is wrong.
 */
export class FailedDials {
  /** Elapsed time: setting the clock must not lock anybody out. */
  readonly #now: () => number;
  readonly #failures = new LRUCache<string, { count: number; endsAt: number }>({ max: REMEMBERED });
  readonly #welcome = new LRUCache<string, true>({ max: REMEMBERED });

  constructor(now: () => number) {
    this.#now = now;
  }

  /** @param visitor who the request says it is: the part of its credential that is no secret, empty for a channel */
  isBlocked(address: string, visitor: string): boolean {
    const window = this.#failures.get(networkOf(address));
    if (!window || window.endsAt <= this.#now() || window.count < FAILURES_PER_WINDOW) return false;
    return !this.#welcome.has(`${networkOf(address)} ${visitor}`);
  }

  /** Channels that an agent dials for a forward that has just ended are not counted: nobody is guessing. */
  failed(address: string, visitor: string): void {
    const now = this.#now();
    const network = networkOf(address);
    if (visitor === '' && this.#welcome.has(`${network} `)) return;
    const window = this.#failures.get(network);
    if (window && window.endsAt > now) window.count += 1;
    else this.#failures.set(network, { count: 1, endsAt: now + WINDOW_MS });
  }

  /** Where an agent was let in, channels are too, whose credentials name nobody. */
  letIn(address: string, visitor: string): void {
    for (const welcome of [visitor, '']) this.#welcome.set(`${networkOf(address)} ${welcome}`, true);
  }
}
