import { networkOf } from '../../../platform/core/network-of.ts';
import type { PasswordCaller } from '../../teams/types.ts';
import { LeakyBuckets } from './leaky-buckets.ts';
import type { BucketSize } from './leaky-buckets.ts';

/** Counters kept per kind: about 12 MB for all five. */
const REMEMBERED = 50_000;
const MINUTE_MS = 60_000;

/** People mistype a few times. In the long run 40 guesses an hour: 8 random letters take 600,000 years. */
const KNOWN_BROWSER: BucketSize = { capacity: 10, leakMs: 1.5 * MINUTE_MS, remembered: REMEMBERED };
/** The limit for one account from one network, so that an attacker elsewhere does not use up a person's own attempts. */
const ACCOUNT_IN_NETWORK: BucketSize = KNOWN_BROWSER;
/** All networks together, against attackers who have many: three times as much. */
const ACCOUNT: BucketSize = { capacity: 30, leakMs: 0.5 * MINUTE_MS, remembered: REMEMBERED };
/** An office behind one address. One attempt becomes free every 18 s, the longest wait of others after an attack. */
const NETWORK: BucketSize = { capacity: 50, leakMs: 0.3 * MINUTE_MS, remembered: REMEMBERED };

/**
 * Correct passwords of one account, from all browsers together. An Argon2 check takes about 20 ms of a thread, so a person or
 * program that signs in again and again gets 2 % of one thread. Only a holder of the password can reach this limit, so it locks out
 * no one else.
 */
const RIGHT_OF_ACCOUNT: BucketSize = { capacity: 60, leakMs: 1000, remembered: REMEMBERED };

/** In whose turn the password of an attempt is checked. */
export function passwordCallerOf({ account, source, knownBrowser }: Attempt): PasswordCaller {
  return { network: networkOf(source), account, isKnown: knownBrowser !== undefined };
}

/** One attempt to sign in. */
export interface Attempt {
  account: string;
  /** Time of the last password change, milliseconds: a new password starts new counters. */
  passwordSince: number;
  /** Address of the client. */
  source: string;
  /** Proof that this account has signed in from this browser before (device-cookies.ts); undefined for every other browser. */
  knownBrowser?: string | undefined;
  /** A further party that enabled the attempt. All attempts that it enabled count together, like those of a network. */
  onBehalfOf?: string | undefined;
}

type Counters = readonly (readonly [buckets: LeakyBuckets, key: string])[];

/**
 * Limits wrong passwords, whether or not the account exists, and how often correct ones are checked. A browser from which the
 * account has signed in before has a counter of its own, which strangers cannot fill. All other browsers count by account and by
 * network. An attempt is counted before the password is checked and removed when it was correct, so that concurrent attempts cannot
 * bypass the limit. A new password starts new counters.
 *
 * An unknown account counts towards its network like a real one: otherwise the limit would reveal which accounts exist.
 */
export class SignInAttempts {
  readonly #knownBrowsers: LeakyBuckets;
  readonly #accountsInNetworks: LeakyBuckets;
  readonly #accounts: LeakyBuckets;
  readonly #networks: LeakyBuckets;
  readonly #right: LeakyBuckets;

  /** @param monotonic monotonic milliseconds */
  constructor(monotonic: () => number) {
    this.#knownBrowsers = new LeakyBuckets(KNOWN_BROWSER, monotonic);
    this.#accountsInNetworks = new LeakyBuckets(ACCOUNT_IN_NETWORK, monotonic);
    this.#accounts = new LeakyBuckets(ACCOUNT, monotonic);
    this.#networks = new LeakyBuckets(NETWORK, monotonic);
    this.#right = new LeakyBuckets(RIGHT_OF_ACCOUNT, monotonic);
  }

  /** @returns seconds to wait after too many attempts; undefined when this one is allowed */
  begin(attempt: Attempt): number | undefined {
    const counters = this.#countersOf(attempt);
    const waitMs = Math.max(this.#right.waitFor(attempt.account), ...counters.map(([buckets, key]) => buckets.waitFor(key)));
    if (waitMs > 0) return Math.ceil(waitMs / 1000);
    for (const [buckets, key] of counters) buckets.add(key);
    return undefined;
  }

  /** The password was correct: the attempt does not count as a wrong one. */
  succeed(attempt: Attempt): void {
    this.#right.add(attempt.account);
    this.withdraw(attempt);
  }

  /** The password was not checked after all. */
  withdraw(attempt: Attempt): void {
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
