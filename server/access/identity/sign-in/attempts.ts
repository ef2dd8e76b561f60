import { networkOf } from '../../../platform/core/network-of.ts';
import type { PasswordCaller } from '../../teams/types.ts';
import type { AttemptCounter, AttemptCounters } from './attempt-counters.ts';

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

/**
 * Limits wrong passwords, whether or not the account exists, and how often correct ones are checked. A browser from which the
 * account has signed in before has a counter of its own, which strangers cannot fill. All other browsers count by account and by
 * network. An attempt is counted before the password is checked and removed when it was correct, so that concurrent attempts cannot
 * bypass the limit. A new password starts new counters.
 *
 * An unknown account counts towards its network like a real one: otherwise the limit would reveal which accounts exist.
 */
export class SignInAttempts {
  readonly #counters: AttemptCounters;

  constructor(counters: AttemptCounters) {
    this.#counters = counters;
  }

  /** @returns seconds to wait after too many attempts; undefined when this one is allowed */
  async begin(attempt: Attempt): Promise<number | undefined> {
    const waitMs = await this.#counters.take(countersOf(attempt), [rightOf(attempt)]);
    return waitMs > 0 ? Math.ceil(waitMs / 1000) : undefined;
  }

  /** The password was correct: the attempt does not count as a wrong one. */
  async succeed(attempt: Attempt): Promise<void> {
    await this.#counters.change([rightOf(attempt)], countersOf(attempt));
  }

  /** The password was not checked after all. */
  async withdraw(attempt: Attempt): Promise<void> {
    await this.#counters.change([], countersOf(attempt));
  }
}

function rightOf({ account }: Attempt): AttemptCounter {
  return { kind: 'right', key: account };
}

function countersOf({ account, passwordSince, source, knownBrowser, onBehalfOf }: Attempt): AttemptCounter[] {
  const guessedAt = `${passwordSince} ${account}`;
  const together: AttemptCounter[] = onBehalfOf === undefined ? [] : [{ kind: 'network', key: onBehalfOf }];
  if (knownBrowser !== undefined) return [{ kind: 'known_browser', key: `${knownBrowser} ${guessedAt}` }, ...together];
  const network = networkOf(source);
  return [
    { kind: 'account_in_network', key: `${network} ${guessedAt}` },
    { kind: 'account', key: guessedAt },
    { kind: 'network', key: network },
  ];
}
