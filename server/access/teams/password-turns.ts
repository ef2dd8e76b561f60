import { AsyncLocalStorage } from 'node:async_hooks';
import { FairShares } from '../../../runtime/fair-shares.ts';
import type { ShareLimits } from '../../../runtime/fair-shares.ts';
import { releaseAdmissionSlot } from '../../platform/core/admission-slot.ts';
import { AppError } from '../../platform/core/errors.ts';
import { FairTurns } from '../../platform/core/fair-turns.ts';
import type { PasswordCaller } from './types.ts';

/**
 * Argon2 takes some 20 ms of one of libuv's four threads, which also compress answers, read files and look names up. Strangers get two of
 * them, a network alone one; known browsers one of their own. One thread is left for everything else.
 */
const AT_ONCE: Record<'strangers' | 'known', ShareLimits> = {
  strangers: { total: 2, perParty: 2, perMember: 1 },
  known: { total: 1, perParty: 1, perMember: 1 },
};

/** Passwords that wait or are checked. Two threads check 256 in about three seconds. */
export const PASSWORDS_WAITING: ShareLimits = { total: 256, perParty: 128, perMember: 16 };
/** By then most of those have been checked. */
const RETRY_AFTER_MS = 3000;

class Lane {
  readonly #turns: FairTurns;
  readonly waiting = new FairShares(PASSWORDS_WAITING);

  constructor(atOnce: ShareLimits) {
    this.#turns = new FairTurns(atOnce);
  }

  async run<T>({ network: party, account: member }: PasswordCaller, work: () => Promise<T>): Promise<T> {
    const holder = { party, member };
    if (!this.waiting.take(holder))
      throw new AppError('unavailable', 'too many passwords are being checked; try again in a few seconds', {
        retryAfterMs: RETRY_AFTER_MS,
      });
    // The work is done by other threads, and this queue has limits of its own.
    releaseAdmissionSlot();
    try {
      return await this.#turns.run(holder, work);
    } finally {
      this.waiting.giveBack(holder);
    }
  }
}

/** Of the process, as the threads are. */
const lanes = { strangers: new Lane(AT_ONCE.strangers), known: new Lane(AT_ONCE.known) };
export const passwordShares = lanes.strangers.waiting;

/** For commands of the operator, which are alone in their process. */
const OPERATOR: PasswordCaller = { network: 'operator', account: 'operator', isKnown: true };
const callers = new AsyncLocalStorage<PasswordCaller>();

/** Passwords that the work checks or sets wait in the turn of this caller. */
export function asPasswordCaller<T>(caller: PasswordCaller, work: () => Promise<T>): Promise<T> {
  return callers.run(caller, work);
}

/**
 * Networks take turns, and in each the accounts, so that passwords sent in great numbers delay only those of the same network.
 * @throws AppError `unavailable` with a time to retry when too many wait
 */
export function inPasswordTurn<T>(work: () => Promise<T>): Promise<T> {
  const caller = callers.getStore() ?? OPERATOR;
  return lanes[caller.isKnown ? 'known' : 'strangers'].run(caller, work);
}
