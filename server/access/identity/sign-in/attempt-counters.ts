import { LeakyBuckets } from './leaky-buckets.ts';
import type { BucketSize } from './leaky-buckets.ts';

/** Counters kept per kind: about 12 MB for all five. */
const REMEMBERED = 50_000;
const MINUTE_MS = 60_000;

/** People mistype a few times. In the long run 40 guesses an hour: 8 random letters take 600,000 years. */
const KNOWN_BROWSER: BucketSize = { capacity: 10, leakMs: 1.5 * MINUTE_MS, remembered: REMEMBERED };

export const SIZES = {
  known_browser: KNOWN_BROWSER,
  /** The limit for one account from one network, so that an attacker elsewhere does not use up a person's own attempts. */
  account_in_network: KNOWN_BROWSER,
  /** All networks together, against attackers who have many: three times as much. */
  account: { capacity: 30, leakMs: 0.5 * MINUTE_MS, remembered: REMEMBERED },
  /** An office behind one address. One attempt becomes free every 18 s, the longest wait of others after an attack. */
  network: { capacity: 50, leakMs: 0.3 * MINUTE_MS, remembered: REMEMBERED },
  /**
   * Correct passwords of one account, from all browsers together. An Argon2 check takes about 20 ms of a thread, so a person or
   * program that signs in again and again gets 2 % of one thread. Only a holder of the password can reach this limit, so it locks out
   * no one else.
   */
  right: { capacity: 60, leakMs: 1000, remembered: REMEMBERED },
} as const satisfies Record<string, BucketSize>;

export interface AttemptCounter {
  kind: keyof typeof SIZES;
  key: string;
}

/** Counts attempts to sign in. */
export interface AttemptCounters {
  /**
   * Counts one attempt everywhere in `counted`, unless a counter there or in `looked` is full. Attempts at the same time count one after the
   * other.
   * @returns milliseconds to wait; 0 when it was counted
   */
  take(counted: readonly AttemptCounter[], looked: readonly AttemptCounter[]): Promise<number>;
  /** Counts one more in each of the first, and takes one back in each of the second. */
  change(added: readonly AttemptCounter[], takenBack: readonly AttemptCounter[]): Promise<void>;
}

/** The counters of a control plane that serves alone. */
export class AttemptsInMemory implements AttemptCounters {
  readonly #buckets: Record<AttemptCounter['kind'], LeakyBuckets>;

  /** @param monotonic monotonic milliseconds */
  constructor(monotonic: () => number) {
    const bucketsOf = (kind: AttemptCounter['kind']): LeakyBuckets => new LeakyBuckets(SIZES[kind], monotonic);
    this.#buckets = {
      known_browser: bucketsOf('known_browser'),
      account_in_network: bucketsOf('account_in_network'),
      account: bucketsOf('account'),
      network: bucketsOf('network'),
      right: bucketsOf('right'),
    };
  }

  async take(counted: readonly AttemptCounter[], looked: readonly AttemptCounter[]): Promise<number> {
    const waitMs = Math.max(0, ...[...counted, ...looked].map(({ kind, key }) => this.#buckets[kind].waitFor(key)));
    if (waitMs === 0) for (const { kind, key } of counted) this.#buckets[kind].add(key);
    return waitMs;
  }

  async change(added: readonly AttemptCounter[], takenBack: readonly AttemptCounter[]): Promise<void> {
    for (const { kind, key } of added) this.#buckets[kind].add(key);
    for (const { kind, key } of takenBack) this.#buckets[kind].remove(key);
  }
}
