import { z } from 'zod';
import { LOCALES } from '../texts/types.ts';
import type { Locale } from '../texts/types.ts';

/** What the bot was sent. Pure. */

/** Somebody has pressed Start in a private chat with the bot. */
export interface Start {
  chatId: string;
  /** Of the link; null without one. */
  token: string | null;
  /** Language of their program; undefined for one that we do not have. */
  locale: Locale | undefined;
  /** When they did, milliseconds since 1970. */
  at: number;
}

export interface Update {
  id: number;
  /** Undefined for everything else that people write to a bot. */
  start: Start | undefined;
}

const updates = z.array(z.object({ update_id: z.int().nonnegative(), message: z.unknown() }));
/** core.telegram.org/bots/api#message. Ids of chats have at most 52 bits. */
const message = z.object({
  date: z.int().nonnegative(),
  chat: z.object({ id: z.int().positive(), type: z.literal('private') }),
  from: z.object({ is_bot: z.literal(false), language_code: z.string().optional() }),
  text: z.string(),
});

/** `/start`, also with the bot's name, and what stands behind it. */
const START = /^\/start(?:@\w{1,40})?(?:\s+(.*))?$/s;
/** core.telegram.org/bots/features#deep-linking */
const TOKEN = /^[\w-]{1,64}$/;

/** @param result of `getUpdates` @returns undefined for what is no list of updates */
export function readUpdates(result: unknown): Update[] | undefined {
  const list = updates.safeParse(result);
  return list.data?.map((update) => ({ id: update.update_id, start: startOf(update.message) }));
}

function startOf(value: unknown): Start | undefined {
  const { data } = message.safeParse(value);
  const found = data && START.exec(data.text);
  if (!data || !found) return undefined;
  const behind = found[1]?.trim() ?? '';
  // What cannot be a token is an unknown one.
  const token = behind === '' ? null : TOKEN.test(behind) ? behind : '';
  return { chatId: String(data.chat.id), token, locale: localeOf(data.from.language_code), at: data.date * 1000 };
}

/** An IETF language tag, such as `de-AT`. */
function localeOf(tag: string | undefined): Locale | undefined {
  const language = tag?.toLowerCase().split('-')[0];
  return LOCALES.find((locale) => locale === language);
}
