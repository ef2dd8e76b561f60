import type { Clock } from '../../../../platform/core/clock.ts';
import type { Storage, Tx } from '../../../../platform/storage/db.ts';
import type { ContactsService, SealedContact } from '../../contacts/service.ts';
import { CATALOGUES } from '../../texts/catalogues.ts';
import { LOCALES } from '../../texts/types.ts';
import type { Catalogue } from '../../texts/catalogue.ts';
import type { TelegramLinks } from '../service.ts';
import { LINK } from '../types.ts';
import type { Start, Update } from '../updates.ts';
import { lockLink, lockPerson, selectLinkByToken, settleReader, takeFrom, useLink } from './store.ts';
import type { ClaimedReader, WaitingLink } from './store.ts';
import { nextRead } from './timing.ts';

/** To somebody whose link proves nothing: one a minute in each chat. */
const PER_CHAT = { perSecond: 1 / 60, burst: 1 };
/** The same in all chats together: each chat that is answered is remembered, and anybody can write to a bot. */
const IN_ALL = { perSecond: 1, burst: 20 };
const BUCKET = 'telegram hints';

export interface TakeDeps {
  storage: Storage;
  clock: Clock;
  contacts: Pick<ContactsService, 'sealChat' | 'proveChat'>;
  links: Pick<TelegramLinks, 'hashesOf'>;
}

/** What the bot answers in a chat. */
export interface Said {
  chatId: string;
  text: string;
}

/** A chat that was proved, for the audit log. */
export interface Proved {
  teamId: string;
  userId: string;
  linkId: string;
  shown: string;
}

export interface Taken {
  said: Said[];
  proved: Proved[];
}

/** Somebody who has pressed Start, with what is known of their link. */
interface Opened {
  start: Start;
  link: WaitingLink | undefined;
  chat: SealedContact | undefined;
  words: Catalogue['bot'];
}

/**
 * Takes updates: what they prove and how far they were read is stored in one transaction, so that a process that is killed loses nothing and
 * repeats nothing. Telegram gives them again until a later request confirms them.
 * @returns undefined when the claim has expired: whoever has it now gets them again
 */
export async function takeUpdates(
  deps: TakeDeps,
  reader: ClaimedReader,
  read: { botId: string; updates: readonly Update[]; startedAt: number },
): Promise<Taken | undefined> {
  const { storage, clock } = deps;
  const { botId, updates, startedAt } = read;
  const opened = await Promise.all(updates.flatMap(({ start }) => (start ? [openedBy(deps, start)] : [])));
  return storage.writes.write(async (tx) => {
    const now = clock.now();
    const moved = updates.length === 0 ? undefined : { botId, next: Math.max(...updates.map(({ id }) => id)) + 1 };
    const end = { dueAt: nextRead({ startedAt, updates: updates.length, now }), failures: 0, problem: null };
    if (!(await settleReader(tx, reader.claim, end, now, moved))) return undefined;
    const taken: Taken = { said: [], proved: [] };
    for (const one of opened) await take(deps, tx, one, now, taken);
    return taken;
  });
}

/** What can be known before the transaction, in which only queries are awaited. */
async function openedBy({ storage, contacts, links }: TakeDeps, start: Start): Promise<Opened> {
  const { token, chatId } = start;
  const found = token === null || token === '' ? undefined : await selectLinkByToken(storage.db, links.hashesOf(token));
  const locale = LOCALES.find((one) => one === found?.locale) ?? start.locale ?? 'en';
  const chat = found && (await contacts.sealChat(found.userId, chatId));
  return { start, link: found, chat, words: CATALOGUES[locale].bot };
}

async function take(deps: TakeDeps, tx: Tx, { start, link, chat, words }: Opened, now: number, { said, proved }: Taken): Promise<void> {
  const { chatId } = start;
  if (link && chat && (await prove(deps, tx, link, chat, now))) {
    said.push({ chatId, text: words.proved });
    proved.push({ teamId: link.teamId, userId: link.userId, linkId: link.id, shown: chat.shown });
    return;
  }
  // Nobody read when this was written: an answer would come out of the blue.
  if (start.at < now - LINK.lifeMs) return;
  if (await mayHint(tx, chatId, now)) said.push({ chatId, text: start.token === null ? words.noLink : words.linkEnded });
}

/** In the order in which a new link locks them: the person, then the link. */
async function prove({ contacts }: TakeDeps, tx: Tx, link: WaitingLink, chat: SealedContact, now: number): Promise<boolean> {
  await lockPerson(tx, link.userId);
  if (!(await lockLink(tx, link, now))) return false;
  const contactId = await contacts.proveChat(tx, link, chat);
  await useLink(tx, link, contactId, now);
  return contactId !== undefined;
}

async function mayHint(tx: Tx, chatId: string, now: number): Promise<boolean> {
  const inAll = await takeFrom(tx, BUCKET, IN_ALL, 1, now);
  if (inAll.granted === 0) return false;
  return (await takeFrom(tx, `${BUCKET} ${chatId}`, PER_CHAT, 1, now)).granted > 0;
}
