import { plainText, utf16Units } from './chat-text.ts';
import { detailOf, jsonRequest, readObject, sendRequest, waitOf, waitOfSeconds } from './http.ts';
import type { ProviderAnswer } from './http.ts';
import type { HttpDeps, HttpRequest } from './http.ts';
import type { SecretFile } from './secret-file.ts';
import type { AddressOf, Channel, OutgoingMessage, SendResult } from './types.ts';

/** core.telegram.org/bots/api#sendmessage: 1 to 4,096 characters, counted in UTF-16 units. */
const MAX_TEXT_UNITS = 4096;

export interface TelegramDeps extends HttpDeps {
  /** The bot's token: `123456:ABC…`. */
  token: SecretFile;
  /** Of a Bot API server; Telegram's own by default. */
  apiUrl?: string;
}

/** Telegram, by the bot of the operator. Plain text: without a parse mode nothing has to be escaped. */
export class TelegramChannel implements Channel<'telegram'> {
  readonly name = 'telegram';
  /** core.telegram.org/bots/faq: one message a second in a chat, 20 a minute in a group. The slower one holds for all. */
  readonly limits = { perSecond: 1 / 3, burst: 3 };
  readonly #deps: TelegramDeps;

  constructor(deps: TelegramDeps) {
    this.#deps = deps;
  }

  bucketOf({ chatId }: AddressOf<'telegram'>): string {
    return `telegram:${chatId}`;
  }

  async send(message: OutgoingMessage, { chatId }: AddressOf<'telegram'>, signal: AbortSignal): Promise<SendResult> {
    const token = await this.#deps.token.read();
    if (token === undefined) return { outcome: 'config', error: 'password_unreadable', detail: '' };
    let movedTo: string | undefined;
    const post = (to: string): Promise<SendResult> =>
      sendRequest(this.#request(message, to, token), this.#deps, signal, (answer) => {
        movedTo = newChatOf(answer);
        return judge(answer, this.#deps.now());
      });
    const result = await post(chatId);
    if (movedTo === undefined) return result;
    // The group has become a supergroup, which has another id and other message ids. It is followed once.
    const moved = movedTo;
    const again = await post(moved);
    return again.outcome === 'sent' ? { ...again, movedTo: moved } : again;
  }

  #request({ text, thread, providerRef }: OutgoingMessage, chatId: string, token: string): HttpRequest {
    const body = {
      chat_id: chatId,
      text: plainText(text, { budget: MAX_TEXT_UNITS, measure: utf16Units, withUrl: true }),
      link_preview_options: { is_disabled: true },
      disable_notification: thread.severity === 'info',
      ...replyTo(providerRef),
    };
    return jsonRequest(methodUrl(this.#deps.apiUrl ?? 'https://api.telegram.org', token, 'sendMessage'), body, { secrets: [token] });
  }
}

/** core.telegram.org/bots/api#making-requests. The token is part of the address, so the address is a secret. */
export function methodUrl(apiUrl: string, token: string, method: 'sendMessage' | 'getMe' | 'getUpdates'): string {
  return `${apiUrl}/bot${token}/${method}`;
}

/** Messages of a thread are replies to its first one. Somebody may have deleted that. */
function replyTo(providerRef: string | undefined): Record<string, unknown> {
  const id = Number(providerRef ?? '');
  return Number.isSafeInteger(id) && id > 0 ? { reply_parameters: { message_id: id, allow_sending_without_reply: true } } : {};
}

function newChatOf(answer: ProviderAnswer): string | undefined {
  const { parameters } = readObject(answer.body);
  const id = (parameters as { migrate_to_chat_id?: unknown } | undefined)?.migrate_to_chat_id;
  return answer.status === 400 && Number.isSafeInteger(id) ? String(id) : undefined;
}

/** core.telegram.org/bots/api#making-requests: `ok`, `description`, and `parameters` with `retry_after` in seconds. */
function judge(answer: ProviderAnswer, now: number): SendResult | undefined {
  const { status } = answer;
  const body = readObject(answer.body);
  const detail = detailOf(answer, typeof body['description'] === 'string' ? body['description'] : '');
  const result = body['result'] as { message_id?: unknown } | undefined;
  if (status === 200 && body['ok'] === true) {
    return { outcome: 'sent', ...(typeof result?.message_id === 'number' ? { ref: String(result.message_id) } : {}) };
  }
  switch (status) {
    case 200:
      return { outcome: 'retry', error: 'answer_invalid', detail };
    case 401:
    // What Telegram says to a token of another form.
    case 404:
      return { outcome: 'config', error: 'unauthorized', detail };
    case 403:
      // The person has blocked the bot, or the bot was removed from the group.
      return { outcome: 'never', error: 'gone', detail, addressOff: 'blocked' };
    case 429: {
      const seconds = (body['parameters'] as { retry_after?: unknown } | undefined)?.retry_after;
      return { outcome: 'retry', error: 'rate_limited', detail, ...waitOf(answer, now), ...waitOfSeconds(seconds) };
    }
    case 400:
      return { outcome: 'never', error: 'refused', detail };
    default:
      return undefined;
  }
}
