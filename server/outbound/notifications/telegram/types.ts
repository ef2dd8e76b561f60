/** How a person proves a Telegram chat: they open a link, and the bot gets its token from their chat. */
export const LINK = {
  /** As long as a code that is typed in: both are used while the person looks. Milliseconds. */
  lifeMs: 10 * 60_000,
  /** A new link ends the one before, so each person has one that waits. More in an hour is a mistake of a program. */
  perHour: 10,
  /** Letters and digits, 238 bits as in other links. Telegram takes 64 of A-Z, a-z, 0-9, _ and - (core.telegram.org/bots/features#deep-linking). */
  tokenChars: 40,
} as const;

export const LINK_STATES = ['waiting', 'proved', 'ended'] as const;
export type LinkState = (typeof LINK_STATES)[number];

/**
 * Why the messages to the bot cannot be read. `bot_busy`: another program reads them, or the bot has a webhook. `bot_refused`: Telegram does not
 * know the token, or its file cannot be read. `rate_limited`: Telegram wants a pause. `unavailable`: no answer, or none that can be used.
 */
export const READ_PROBLEMS = ['bot_busy', 'bot_refused', 'rate_limited', 'unavailable'] as const;
export type ReadProblem = (typeof READ_PROBLEMS)[number];

export interface TelegramLink {
  id: string;
  state: LinkState;
  /** Only while it waits; null when the messages to the bot are read. */
  problem: ReadProblem | null;
  /** What it has proved. */
  contactId: string | null;
  expiresAt: number;
}

/** The request had no answer that counts. */
export interface BotFailure {
  outcome: 'failed';
  problem: ReadProblem;
  /** Telegram's words, without the token. */
  detail: string;
  retryAfterMs?: number;
}

export interface Stopped {
  outcome: 'stopped';
}
