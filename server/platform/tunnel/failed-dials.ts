import { LRUCache } from 'lru-cache';
import { networkOf } from '../core/network-of.ts';
import { SlidingWindow } from '../core/sliding-window.ts';

/** As many as strangers may send to the API. */
const FAILURES_PER_WINDOW = 60;
const WINDOW_MS = 60_000;
/** Networks with failures, and visitors that were let in, remembered at once. */
const REMEMBERED = 20_000;

/**
 * Bounds the wrong credentials that one address may try. Whoever was let in from there before is let through: a hundred
 * good agents may stand behind the same address as the one that is wrong.
 */
export class FailedDials {
  readonly #failures: SlidingWindow;
  readonly #welcome = new LRUCache<string, true>({ max: REMEMBERED });

  /** @param monotonic elapsed time in milliseconds: setting the clock must not lock anybody out */
  constructor(monotonic: () => number) {
    this.#failures = new SlidingWindow(WINDOW_MS, monotonic, REMEMBERED);
  }

  /** @param visitor who the request says it is: the part of its credential that is no secret, empty for a channel */
  isBlocked(address: string, visitor: string): boolean {
    const network = networkOf(address);
    return this.#failures.isFull(network, FAILURES_PER_WINDOW) && !this.#welcome.has(`${network} ${visitor}`);
  }

  /** Channels that an agent dials for a forward that has just ended are not counted: nobody is guessing. */
  failed(address: string, visitor: string): void {
    const network = networkOf(address);
    if (visitor === '' && this.#welcome.has(`${network} `)) return;
    this.#failures.take(network, FAILURES_PER_WINDOW);
  }

  /** Where an agent was let in, channels are too, whose credentials name nobody. */
  letIn(address: string, visitor: string): void {
    for (const welcome of [visitor, '']) this.#welcome.set(`${networkOf(address)} ${welcome}`, true);
  }
}
