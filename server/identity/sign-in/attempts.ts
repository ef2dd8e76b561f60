import ipaddr from 'ipaddr.js';
import { LRUCache } from 'lru-cache';

const WINDOW_MS = 15 * 60_000;
/** People mistype a few times; at 40 an hour 8 random letters take 600,000 years. */
const PER_ACCOUNT = 10;
/** An office behind one address. */
const PER_ADDRESS = 50;
/** Remembered at once, of each kind. */
const REMEMBERED = 50_000;

/** Somebody tries a password. */
export interface Attempt {
  account: string;
  /** Since when the account has the password it has: a new one has not been guessed at yet. */
  passwordSince: number;
  /** The address it comes from. */
  source: string;
}

interface Window {
  failures: number;
  endsAt: number;
}

/**
 * Counts wrong passwords, by account and by address, whether the account exists or not. An attempt is counted before the
 * password is looked at and given back when it was right, so that many at once are no way round. A new password lifts the
 * rest of an account: whoever sets it has other ways in.
 */
export class SignInAttempts {
  readonly #now: () => number;
  readonly #accounts = new LRUCache<string, Window>({ max: REMEMBERED });
  readonly #addresses = new LRUCache<string, Window>({ max: REMEMBERED });

  constructor(now: () => number) {
    this.#now = now;
  }

  /** @returns seconds to wait when there were too many; undefined when this one may be made */
  begin(attempt: Attempt): number | undefined {
    const windows = [this.#window(this.#accounts, guessedAt(attempt)), this.#window(this.#addresses, networkOf(attempt.source))] as const;
    const full = windows.filter(({ failures }, index) => failures >= (index === 0 ? PER_ACCOUNT : PER_ADDRESS));
    if (full.length > 0) return Math.ceil((Math.max(...full.map(({ endsAt }) => endsAt)) - this.#now()) / 1000);
    for (const window of windows) window.failures += 1;
    return undefined;
  }

  /** The password was right: the account begins anew, the address gets this attempt back. */
  succeed(attempt: Attempt): void {
    this.#accounts.delete(guessedAt(attempt));
    const window = this.#addresses.get(networkOf(attempt.source));
    if (window && window.failures > 0) window.failures -= 1;
  }

  #window(windows: LRUCache<string, Window>, key: string): Window {
    const now = this.#now();
    const known = windows.get(key);
    if (known && known.endsAt > now) return known;
    const window = { failures: 0, endsAt: now + WINDOW_MS };
    windows.set(key, window);
    return window;
  }
}

function guessedAt({ account, passwordSince }: Attempt): string {
  return `${passwordSince} ${account}`;
}

/** One subscriber owns at least a /64 of the IPv6 space. */
function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  return parsed instanceof ipaddr.IPv6 ? parsed.parts.slice(0, 4).join(':') : parsed.toString();
}
