import { accountOn } from './bucket.ts';
import { plainText, urgencyOf, utf8Bytes } from './chat-text.ts';
import type { Urgency } from './chat-text.ts';
import { detailOf, jsonRequest, readObject, sendRequest } from './http.ts';
import type { ProviderAnswer } from './http.ts';
import type { HttpDeps } from './http.ts';
import type { AddressOf, Channel, OutgoingMessage, SendResult } from './types.ts';

/** docs.ntfy.sh/publish: a longer message becomes an attachment, which nobody reads on a lock screen. */
const MAX_MESSAGE_BYTES = 4096;
/** 5 makes a telephone vibrate and stay on top, 4 vibrate, 3 ring. */
const PRIORITY: Record<Urgency, number> = { critical: 5, warning: 4, info: 3, end: 3 };

/** A topic of an ntfy server. From version 2.16 on, its messages of one thread replace each other. */
export class NtfyChannel implements Channel<'ntfy'> {
  readonly name = 'ntfy';
  /** ntfy.sh: a burst of 60, then one in five seconds; a server of one's own allows the same unless it is told otherwise. */
  readonly limits = { perSecond: 0.2, burst: 30 };
  readonly #deps: HttpDeps;

  constructor(deps: HttpDeps) {
    this.#deps = deps;
  }

  /** The server counts by the account of the token; without one by the sender's address, so that all topics of a server are one bucket. */
  bucketOf({ url, token }: AddressOf<'ntfy'>): string {
    const server = `ntfy:${URL.parse(url)?.host ?? ''}`;
    return token === null ? server : accountOn(server, token);
  }

  async send(message: OutgoingMessage, { url, topic, token }: AddressOf<'ntfy'>, signal: AbortSignal): Promise<SendResult> {
    const { text, thread } = message;
    const body = {
      topic,
      title: text.subject,
      message: plainText(text, { budget: MAX_MESSAGE_BYTES, measure: utf8Bytes, withUrl: false }),
      priority: PRIORITY[urgencyOf(message)],
      click: text.url,
      ...(text.acknowledgeUrl === null ? {} : { actions: [{ action: 'view', label: text.labels.acknowledge, url: text.acknowledgeUrl }] }),
      sequence_id: thread.id,
    };
    const headers: Record<string, string> = token === null ? {} : { authorization: `Bearer ${token}` };
    // Who knows the name of a topic can read it.
    const secrets = [topic, ...(token === null ? [] : [token])];
    return sendRequest(jsonRequest(new URL(url).origin, body, { headers, secrets }), this.#deps, signal, judge);
  }
}

/** 200 with the message's id. An error has `code`, `http` and `error`: 42901 too many requests, 40301 forbidden. */
function judge(answer: ProviderAnswer): SendResult | undefined {
  const body = readObject(answer.body);
  if (answer.status !== 200) return undefined;
  if (typeof body['id'] !== 'string') return { outcome: 'retry', error: 'answer_invalid', detail: detailOf(answer) };
  return { outcome: 'sent', ref: body['id'].slice(0, 100) };
}
