import { networkOf } from '../../../platform/core/network-of.ts';
import { LeakyBuckets } from './leaky-buckets.ts';
import type { BucketSize } from './leaky-buckets.ts';

/** Counters of each kind kept at once: about 12 MB for all five. */
const REMEMBERED = 50_000;
const MINUTE_MS = 60_000;

/** People mistype a few times. In the long run 40 guesses an hour: 8 random letters take 600,000 years. */
const KNOWN_BROWSER: BucketSize = { capacity: 10, leakMs: 1.5 * MINUTE_MS, remembered: REMEMBERED };
/** The same for one account from one network, so that a guesser elsewhere does not use up a person's own attempts. */
const ACCOUNT_IN_NETWORK: BucketSize = KNOWN_BROWSER;
/** All networks together, against guessers who have many: three times as much. */
const ACCOUNT: BucketSize = { capacity: 30, leakMs: 0.5 * MINUTE_MS, remembered: REMEMBERED };
/** An office behind one address. A place becomes free every 18 s, which is the longest that others wait once an attack is over. */
const NETWORK: BucketSize = { capacity: 50, leakMs: 0.3 * MINUTE_MS, remembered: REMEMBERED };

/**
 * Right passwords of one account, from all browsers together: an Argon2 check takes about 20 ms of a thread, so that a person or a
 * program that signs in again and again gets 2 % of one. Only who knows the password can fill it, so that it locks nobody else out.
 */
const RIGHT_OF_ACCOUNT: BucketSize = { capacity: 60, leakMs: 1000, remembered: REMEMBERED };

/** Somebody tries a password. */
export interface Attempt {
  account: string;
  /** Since when the account has the password it has: a new one has not been guessed at yet. */
  passwordSince: number;
  /** The address it comes from. */
  source: string;
  /** Proof that this account has signed in from this browser before (device-cookies.ts); undefined for every other browser. */
  knownBrowser?: string | undefined;
  /** Who let this attempt be made, besides: all attempts that they let be made are counted together, like those of a network. */
  onBehalfOf?: string | undefined;
}

type Counters = readonly (readonly [buckets: LeakyBuckets, key: string])[];

/**
 * Limits wrong passwords, whether the account exists or not, and how often right ones are checked. A browser from which the account has signed in before has a counter
 * of its own, which strangers cannot fill. All other browsers count by account and by network. An attempt is counted before the
 * password is looked at and taken back when it was right, so that many at once are no way round. A new password begins anew.
 *
 * An invented account counts towards its network as a real one does: were it otherwise, the limit would tell which accounts exist.
 */
export class SignInAttempts {
  readonly #knownBrowsers: LeakyBuckets;
  readonly #accountsInNetworks: LeakyBuckets;
  readonly #accounts: LeakyBuckets;
  readonly #networks: LeakyBuckets;
  readonly #right: LeakyBuckets;

  /** @param monotonic elapsed time in milliseconds, which setting the clock does not change */
  constructor(monotonic: () => number) {
    this.#knownBrowsers = new LeakyBuckets(KNOWN_BROWSER, monotonic);
    this.#accountsInNetworks = new LeakyBuckets(ACCOUNT_IN_NETWORK, monotonic);
    this.#accounts = new LeakyBuckets(ACCOUNT, monotonic);
    this.#networks = new LeakyBuckets(NETWORK, monotonic);
    this.#right = new LeakyBuckets(RIGHT_OF_ACCOUNT, monotonic);
  }

  /** @returns seconds to wait when there were too many; undefined when this one may be made */
  begin(attempt: Attempt): number | undefined {
    const counters = this.#countersOf(attempt);
    const waitMs = Math.max(this.#right.waitFor(attempt.account), ...counters.map(([buckets, key]) => buckets.waitFor(key)));
    if (waitMs > 0) return Math.ceil(waitMs / 1000);
    for (const [buckets, key] of counters) buckets.add(key);
    return undefined;
  }

  /** The password was right: the attempt does not count among the wrong ones. */
  succeed(attempt: Attempt): void {
    this.#right.add(attempt.account);
    for (const [buckets, key] of this.#countersOf(attempt)) buckets.remove(key);
  }

  #countersOf({ account, passwordSince, source, knownBrowser, onBehalfOf }: Attempt): Counters {
    const guessedAt = `${passwordSince} ${account}`;
    const together: Counters = onBehalfOf === undefined ? [] : [[this.#networks, onBehalfOf]];
    if (knownBrowser !== undefined) return [[this.#knownBrowsers, `${knownBrowser} ${guessedAt}`], ...together];
    const network = networkOf(source);
    return [
      [this.#accountsInNetworks, `${network} ${guessedAt}`],
      [this.#accounts, guessedAt],
      [this.#networks, network],
    ];
  }
}
