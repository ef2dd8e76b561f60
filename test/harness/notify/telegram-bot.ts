import { checkTelegram, telegramMethod } from './providers.ts';
import type { ProviderRequest } from './providers.ts';
import { ProviderStandIn } from './stand-in.ts';
import type { ProviderReply } from './stand-in.ts';

/** What somebody writes to the bot. */
interface Written {
  chatId: number;
  text: string;
  /** Milliseconds since 1970. */
  at: number;
  language?: string;
  /** `private` unless it says otherwise. */
  type?: 'private' | 'group' | 'supergroup' | 'channel';
  isBot?: boolean;
}

/** A request that waits for updates. */
interface Waiting {
  end: (reply: ProviderReply) => void;
}

export function refused(code: number, description: string, parameters?: object): ProviderReply {
  return { status: code, body: { ok: false, error_code: code, description, ...(parameters ? { parameters } : {}) } };
}

const TERMINATED = refused(409, 'Conflict: terminated by other getUpdates request; make sure that only one bot instance is running');
const done = (result: unknown): ProviderReply => ({ status: 200, body: { ok: true, result } });

/**
 * The Bot API as core.telegram.org/bots/api describes it: updates stay until a request with a higher offset confirms them, one request waits at a
 * time, and none does while a webhook is set. It has no time of its own: a request that wants to wait does so until somebody writes, or the test ends it.
 */
export class TelegramBotStandIn {
  /** What the bot has said. */
  readonly said: { chatId: string; text: string }[] = [];
  /** `offset` of each request for updates. */
  readonly offsets: (number | undefined)[] = [];
  /** The next answers to requests for updates, before its own. */
  readonly failures: ProviderReply[] = [];
  hasWebhook = false;
  token: string;
  username: string;
  /** How often a request ended another one that waited. */
  conflicts = 0;
  readonly #server: ProviderStandIn;
  #updates: { update_id: number; message: object }[] = [];
  #nextId = 900_000_001;
  #waiting: Waiting[] = [];

  private constructor(server: ProviderStandIn, token: string) {
    this.#server = server;
    this.token = token;
    this.username = 'depot_signalbox_bot';
    server.reply = (request) => this.#reply(request);
  }

  static async start(token: string): Promise<TelegramBotStandIn> {
    return new TelegramBotStandIn(await ProviderStandIn.start(checkTelegram, 'hang'), token);
  }

  get url(): string {
    return this.#server.url;
  }

  /** Requests that Telegram would have refused. */
  get problems(): readonly string[] {
    return this.#server.problems;
  }

  /** Requests of a method so far. */
  count(method: string): number {
    return this.#server.requests.filter((request) => telegramMethod(request) === method).length;
  }

  /** How many requests wait for updates. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Updates that no request has confirmed. */
  get unconfirmed(): number {
    return this.#updates.length;
  }

  /** After a week without updates the numbers go on anywhere. */
  renumber(next: number): void {
    this.#nextId = next;
  }

  /** Somebody writes to the bot. */
  write({ chatId, text, at, language, type = 'private', isBot = false }: Written): void {
    const from = { id: chatId, is_bot: isBot, first_name: 'Ada', ...(language === undefined ? {} : { language_code: language }) };
    const message = { message_id: this.#nextId, from, chat: { id: chatId, type, first_name: 'Ada' }, date: Math.floor(at / 1000), text };
    this.#updates.push({ update_id: this.#nextId, message });
    this.#nextId += 1;
    this.#endWaiting(() => done(this.#updates));
  }

  /** The time of the requests that wait is over. */
  endWait(): void {
    this.#endWaiting(() => done([]));
  }

  /** Another program asks for updates. */
  interfere(): void {
    this.#endWaiting(() => TERMINATED);
  }

  close(): Promise<void> {
    return this.#server.close();
  }

  #endWaiting(reply: () => ProviderReply): void {
    const ended = this.#waiting;
    this.#waiting = [];
    for (const { end } of ended) end(reply());
  }

  #reply(request: ProviderRequest): ProviderReply | Promise<ProviderReply> {
    if (!request.path.startsWith(`/bot${this.token}/`)) return refused(401, `Unauthorized`);
    const body = JSON.parse(request.body.toString()) as Record<string, unknown>;
    switch (telegramMethod(request)) {
      case 'getMe':
        return done({ id: Number(this.token.split(':')[0]), is_bot: true, first_name: 'Depot', username: this.username });
      case 'getUpdates':
        return this.#getUpdates(body);
      default:
        this.said.push({ chatId: String(body['chat_id']), text: String(body['text']) });
        return done({ message_id: this.said.length });
    }
  }

  #getUpdates({
    offset,
    limit = 100,
    timeout = 0,
  }: {
    offset?: number;
    limit?: number;
    timeout?: number;
  }): ProviderReply | Promise<ProviderReply> {
    this.offsets.push(offset);
    const failure = this.failures.shift();
    if (failure !== undefined) return failure;
    if (this.hasWebhook)
      return refused(409, "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first");
    this.conflicts += this.#waiting.length;
    this.interfere();
    if (offset !== undefined) this.#updates = this.#updates.filter(({ update_id: id }) => id >= offset);
    if (this.#updates.length > 0) return done(this.#updates.slice(0, limit));
    if (timeout === 0) return done([]);
    return new Promise((end) => this.#waiting.push({ end }));
  }
}
