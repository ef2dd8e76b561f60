import { LRUCache } from 'lru-cache';
import { networkOf } from '../core/network-of.ts';
import { SlidingWindow } from '../core/sliding-window.ts';

/** As many as unauthenticated callers may send to the API. */
const FAILURES_PER_WINDOW = 60;
const WINDOW_MS = 60_000;
/** Networks with failures, and authenticated agents, remembered at once. */
const REMEMBERED = 20_000;

/**
 * Rate-limits failed authentication per address. Agents that have authenticated from there before are exempt: a hundred
 * valid agents may share the address with the failing one.
 */
export class FailedDials {
  readonly #failures: SlidingWindow;
  readonly #authenticated = new LRUCache<string, true>({ max: REMEMBERED });

  /** @param monotonic monotonic milliseconds: setting the clock must not lock agents out */
  constructor(monotonic: () => number) {
    this.#failures = new SlidingWindow(WINDOW_MS, monotonic, REMEMBERED);
  }

  /** @param agentId the claimed agent: the public part of its credential, empty for a channel */
  isBlocked(address: string, agentId: string): boolean {
    const network = networkOf(address);
    return this.#failures.isFull(network, FAILURES_PER_WINDOW) && !this.#authenticated.has(`${network} ${agentId}`);
  }

  /** Failed channel dials from an authenticated agent's network are not counted: its forward may just have ended. */
  failed(address: string, agentId: string): void {
    const network = networkOf(address);
    if (agentId === '' && this.#authenticated.has(`${network} `)) return;
    this.#failures.take(network, FAILURES_PER_WINDOW);
  }

  /** Exempts the agent, and channels from its network, whose credentials name no agent. */
  authenticated(address: string, agentId: string): void {
    for (const member of [agentId, '']) this.#authenticated.set(`${networkOf(address)} ${member}`, true);
  }
}
