import { releaseAdmissionSlot } from '../../../platform/core/admission-slot.ts';
import type { Clock } from '../../../platform/core/clock.ts';
import { AppError, notFound } from '../../../platform/core/errors.ts';
import { newId, newSecret } from '../../../platform/core/ids.ts';
import { removeInBatches } from '../../../platform/core/removal-batches.ts';
import type { Storage, Tx } from '../../../platform/storage/db.ts';
import type { Secrets } from '../../../platform/storage/secrets.ts';
import type { ContactsService, Owner } from '../contacts/service.ts';
import type { TelegramBot } from './bot.ts';
import { deleteLinksBefore, endLink, endLinks, insertLink, insertReader, lockPerson, selectLink, selectMade } from './store.ts';
import { LINK } from './types.ts';
import type { BotFailure, TelegramLink } from './types.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** A person waits for the answer. */
const NAME_WITHIN_MS = 15_000;
const PURPOSE = 'telegram link';

export interface TelegramLinksDeps {
  storage: Storage;
  clock: Clock;
  secrets: Pick<Secrets, 'fingerprints'>;
  contacts: Pick<ContactsService, 'refuseSecondChat'>;
  /** Undefined without an account of the operator. */
  bot: Pick<TelegramBot, 'username'> | undefined;
  /** Called when a link waits. */
  onLink: () => void;
}

/** Links by which people prove their Telegram chats. A link is a secret: whoever opens it first proves their own chat for the person. */
export class TelegramLinks {
  readonly #deps: TelegramLinksDeps;

  constructor(deps: TelegramLinksDeps) {
    this.#deps = deps;
  }

  /**
   * Makes a link; an earlier one of the person ends.
   * @returns with the address that the person opens, which is shown nowhere else
   * @throws AppError `conflict` without a bot that works, or when the person has a chat; `rate_limited`; `unavailable` when Telegram does not answer
   */
  async create(owner: Owner): Promise<{ link: TelegramLink; url: string }> {
    const { storage, clock, contacts, bot, onLink } = this.#deps;
    if (!bot) throw new AppError('conflict', 'this control plane cannot send by telegram; its operator has to configure it');
    await contacts.refuseSecondChat(owner);
    releaseAdmissionSlot();
    const named = await bot.username(AbortSignal.timeout(NAME_WITHIN_MS));
    if (named.outcome !== 'named') throw named.outcome === 'failed' ? refusalOf(named) : unavailable();
    const token = newSecret(LINK.tokenChars);
    const now = clock.now();
    const link: TelegramLink = { id: newId(now), state: 'waiting', problem: null, contactId: null, expiresAt: now + LINK.lifeMs };
    await storage.writes.write(async (tx) => {
      await lockPerson(tx, owner.userId);
      await contacts.refuseSecondChat(owner, tx);
      await refuseTooMany(tx, owner.userId, now);
      await endLinks(tx, owner.userId, now);
      await insertLink(tx, { ...owner, id: link.id, tokenHash: this.hashesOf(token)[0]!, createdAt: now, expiresAt: link.expiresAt });
      await insertReader(tx, now);
    });
    onLink();
    return { link, url: `https://t.me/${named.username}?start=${token}` };
  }

  /** @throws AppError `not_found` */
  async get(owner: Owner, id: string): Promise<TelegramLink> {
    const { storage, clock } = this.#deps;
    const link = await selectLink(storage.db, owner, id, clock.now());
    if (!link) throw notFound('link');
    return link;
  }

  /** It proves nothing any more. Nothing happens to one that has ended. @throws AppError `not_found` */
  async end(owner: Owner, id: string): Promise<void> {
    const { storage, clock } = this.#deps;
    if (!(await endLink(storage.db, owner, id, clock.now()))) throw notFound('link');
  }

  /** Deletes old links. */
  async sweep(signal?: AbortSignal): Promise<void> {
    const { storage, clock } = this.#deps;
    const before = clock.now() - 2 * DAY_MS;
    await removeInBatches(storage, (tx, limit) => deleteLinksBefore(tx, before, limit), { signal });
  }

  /** Keyed, the one to store first. */
  hashesOf(token: string): string[] {
    return this.#deps.secrets.fingerprints(PURPOSE, token);
  }
}

async function refuseTooMany(tx: Tx, userId: string, now: number): Promise<void> {
  const made = await selectMade(tx, userId, now - HOUR_MS, LINK.perHour);
  if (made.length < LINK.perHour) return;
  throw new AppError('rate_limited', 'you have asked for many links; try again later', {
    retryAfterMs: Math.max(1, made[0]! + HOUR_MS - now),
  });
}

function refusalOf({ problem, retryAfterMs }: BotFailure): AppError {
  if (problem === 'bot_refused')
    return new AppError('conflict', 'Telegram refuses the bot of this control plane; its operator has to correct its token');
  return unavailable(retryAfterMs);
}

function unavailable(retryAfterMs?: number): AppError {
  return new AppError('unavailable', 'Telegram does not answer; try again later', { retryAfterMs });
}
