import type { Poster } from '../../../platform/outgoing/poster.ts';
import { detailOf, jsonRequest, readObject, waitOf, waitOfSeconds } from '../channels/http.ts';
import type { SecretFile } from '../channels/secret-file.ts';
import { methodUrl } from '../channels/telegram.ts';
import type { BotFailure, ReadProblem, Stopped } from './types.ts';
import { readUpdates } from './updates.ts';
import type { Update } from './updates.ts';

/** What is told of a bot, and of a message that was sent, is below 1 kB. */
const SHORT_BYTES = 4096;
/**
 * A text has at most 4,096 characters, which JSON may write as 24 kB, and with the one that it replies to twice that: {@link READ_AT_ONCE} of
 * them fit.
 */
export const LONG_BYTES = 1024 * 1024;
export const READ_AT_ONCE = 20;
/** A name may be changed with @BotFather. Milliseconds. */
const NAME_FOR_MS = 10 * 60_000;
/** core.telegram.org/bots/features#creating-a-new-bot: 5 to 32 characters. */
const USERNAME = /^\w{5,32}$/;

export interface TelegramBotDeps {
  poster: Pick<Poster, 'ask'>;
  /** Waits longer than {@link ReadRequest.waitSeconds}, and takes {@link LONG_BYTES}. */
  longPoster: Pick<Poster, 'ask'>;
  /** Milliseconds since 1970. */
  now: () => number;
  monotonic: () => number;
  apiUrl: string;
  /** `123456:ABC…`: the bot's id and its secret. */
  token: SecretFile;
}

export interface ReadRequest {
  /** The first update that is wanted; null: the earliest that Telegram has. What is before it is confirmed, and Telegram forgets it. */
  next: (botId: string) => number | null;
  limit: number;
  /** How long Telegram waits for the first one. */
  waitSeconds: number;
}

export type ReadResult = { outcome: 'read'; botId: string; updates: readonly Update[] } | BotFailure | Stopped;

/** The operator's bot beside its messages of threads: who it is, what people write to it, and what it answers them. Never rejects. */
export class TelegramBot {
  readonly #deps: TelegramBotDeps;
  #known: { token: string; username: string; until: number } | undefined;

  constructor(deps: TelegramBotDeps) {
    this.#deps = deps;
  }

  /** The name in links to the bot. Kept for ten minutes, as long as the token is the same. */
  async username(signal: AbortSignal): Promise<{ outcome: 'named'; username: string } | BotFailure | Stopped> {
    const { monotonic, poster } = this.#deps;
    const token = await this.#deps.token.read();
    if (token === undefined) return UNREADABLE;
    if (this.#known?.token === token && monotonic() < this.#known.until) return { outcome: 'named', username: this.#known.username };
    const asked = await this.#ask(poster, { token, method: 'getMe', body: {}, bytes: SHORT_BYTES }, signal);
    if (asked.outcome !== 'answered') return asked;
    const username = (asked.result as { username?: unknown } | undefined)?.username;
    if (typeof username !== 'string' || !USERNAME.test(username)) return UNUSABLE;
    this.#known = { token, username, until: monotonic() + NAME_FOR_MS };
    return { outcome: 'named', username };
  }

  /** Messages to the bot. Resolves when there are some, or after the wait. */
  async read({ next, limit, waitSeconds }: ReadRequest, signal: AbortSignal): Promise<ReadResult> {
    const token = await this.#deps.token.read();
    if (token === undefined) return UNREADABLE;
    const botId = token.split(':')[0]!;
    const offset = next(botId);
    const body = { ...(offset === null ? {} : { offset }), limit, timeout: waitSeconds, allowed_updates: ['message'] };
    const asked = await this.#ask(this.#deps.longPoster, { token, method: 'getUpdates', body, bytes: LONG_BYTES }, signal);
    if (asked.outcome !== 'answered') return asked;
    const updates = readUpdates(asked.result);
    return updates === undefined ? UNUSABLE : { outcome: 'read', botId, updates };
  }

  /** Answers somebody who has written to the bot. If that fails, they have learned it from the page on which they wait. */
  async say(chatId: string, text: string, signal: AbortSignal): Promise<void> {
    const token = await this.#deps.token.read();
    if (token === undefined) return;
    const body = { chat_id: chatId, text, link_preview_options: { is_disabled: true }, disable_notification: false };
    await this.#ask(this.#deps.poster, { token, method: 'sendMessage', body, bytes: SHORT_BYTES }, signal);
  }

  async #ask(
    poster: Pick<Poster, 'ask'>,
    { token, method, body, bytes }: { token: string; method: 'getMe' | 'getUpdates' | 'sendMessage'; body: object; bytes: number },
    signal: AbortSignal,
  ): Promise<{ outcome: 'answered'; result: unknown } | BotFailure | Stopped> {
    const { apiUrl, now } = this.#deps;
    const { secrets, ...message } = jsonRequest(methodUrl(apiUrl, token, method), body, { secrets: [token] });
    const answer = await poster.ask({ ...message, headers: { 'user-agent': 'Signalbox-Notifications/1' } }, signal, bytes);
    if (answer.outcome === 'stopped') return answer;
    if (answer.outcome === 'failed') return { outcome: 'failed', problem: 'unavailable', detail: answer.error };
    const said = readObject(answer.body);
    if (answer.status === 200 && said['ok'] === true) return { outcome: 'answered', result: said['result'] };
    const words = typeof said['description'] === 'string' ? said['description'] : '';
    const wait = { ...waitOf(answer, now()), ...waitOfSeconds((said['parameters'] as { retry_after?: unknown } | undefined)?.retry_after) };
    return { outcome: 'failed', problem: problemOf(answer.status), detail: detailOf({ ...answer, secrets }, words), ...wait };
  }
}

const UNREADABLE: BotFailure = { outcome: 'failed', problem: 'bot_refused', detail: 'the file with the token cannot be read' };
const UNUSABLE: BotFailure = { outcome: 'failed', problem: 'unavailable', detail: 'an answer that cannot be used' };

/** core.telegram.org/bots/api#making-requests. 409: "terminated by other getUpdates request" or "webhook is active". */
function problemOf(status: number): ReadProblem {
  switch (status) {
    case 409:
      return 'bot_busy';
    case 401:
    case 403:
    // What Telegram says to a token of another form.
    case 404:
      return 'bot_refused';
    case 429:
      return 'rate_limited';
    default:
      return 'unavailable';
  }
}
