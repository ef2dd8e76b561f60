import { accountOn } from './bucket.ts';
import { plainText, urgencyOf, utf8Bytes } from './chat-text.ts';
import type { Urgency } from './chat-text.ts';
import { detailOf, jsonRequest, readObject, sendRequest } from './http.ts';
import type { ProviderAnswer } from './http.ts';
import type { HttpDeps } from './http.ts';
import type { AddressOf, Channel, OutgoingMessage, SendResult } from './types.ts';

/** Gotify publishes no limit; this is a long message on a telephone. */
const MAX_MESSAGE_BYTES = 4096;
/** The application for Android: from 8 on it rings and stays, from 4 on it rings, below it is silent. */
const PRIORITY: Record<Urgency, number> = { critical: 8, warning: 5, info: 2, end: 5 };

/** An application of a Gotify server. */
export class GotifyChannel implements Channel<'gotify'> {
  readonly name = 'gotify';
  /** Ours: a server of one's own has no limit. */
  readonly limits = { perSecond: 2, burst: 20 };
  readonly #deps: HttpDeps;

  constructor(deps: HttpDeps) {
    this.#deps = deps;
  }

  bucketOf({ url, token }: AddressOf<'gotify'>): string {
    return accountOn(`gotify:${URL.parse(url)?.host ?? ''}`, token);
  }

  async send(message: OutgoingMessage, { url, token }: AddressOf<'gotify'>, signal: AbortSignal): Promise<SendResult> {
    const { text } = message;
    const body = {
      title: text.subject,
      message: plainText(text, { budget: MAX_MESSAGE_BYTES, measure: utf8Bytes, withUrl: true }),
      priority: PRIORITY[urgencyOf(message)],
      extras: { 'client::display': { contentType: 'text/plain' }, 'client::notification': { click: { url: text.url } } },
    };
    // A server may stand below a path.
    const request = jsonRequest(`${url.replace(/\/+$/, '')}/message`, body, { headers: { 'x-gotify-key': token }, secrets: [token] });
    return sendRequest(request, this.#deps, signal, judge);
  }
}

/** 200 with the message's number. An error has `error`, `errorCode` and `errorDescription`. */
function judge(answer: ProviderAnswer): SendResult | undefined {
  const { id } = readObject(answer.body);
  if (answer.status !== 200) return undefined;
  if (typeof id !== 'number') return { outcome: 'retry', error: 'answer_invalid', detail: detailOf(answer) };
  return { outcome: 'sent', ref: String(id) };
}
