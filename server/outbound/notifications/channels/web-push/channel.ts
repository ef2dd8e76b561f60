import { fitRows } from '../../texts/rows.ts';
import { urgencyOf } from '../chat-text.ts';
import type { Urgency } from '../chat-text.ts';
import { detailOf, sendRequest } from '../http.ts';
import type { ProviderAnswer } from '../http.ts';
import type { HttpDeps } from '../http.ts';
import type { AddressOf, Channel, OutgoingMessage, SendResult } from '../types.ts';
import { encryptFor } from './encrypt.ts';
import { vapidHeader } from './vapid.ts';
import type { VapidKeys } from './vapid.ts';

export interface WebPushDeps extends HttpDeps {
  /** The keys of this installation. Rejects while they cannot be read. */
  vapid: () => Promise<VapidKeys>;
  /** Whom the operator of a push service may ask: a `mailto:` or https address. */
  subject: string;
}

/** As long as the outbox tries: an older message says nothing that is still true. */
const TTL_SECONDS = 6 * 3600;
/** Services of browsers take 3 to 4 kB encrypted. */
const ROWS_BUDGET_BYTES = 1500;
/** RFC 8030 section 5.3: a browser that saves its battery wakes for `high` only. */
const URGENCY: Record<Urgency, string> = { critical: 'high', warning: 'normal', info: 'low', end: 'normal' };

/** Push messages to browsers, encrypted so that the push service cannot read them. */
export class WebPushChannel implements Channel<'web_push'> {
  readonly name = 'web_push';
  /** Ours: no service publishes a limit, and a person is not told more often. */
  readonly limits = { perSecond: 1, burst: 5 };
  readonly #deps: WebPushDeps;

  constructor(deps: WebPushDeps) {
    this.#deps = deps;
  }

  /** The end of the address tells subscriptions apart. */
  bucketOf({ endpoint }: AddressOf<'web_push'>): string {
    return `web_push:${URL.parse(endpoint)?.hostname ?? ''}/${endpoint.slice(-12)}`;
  }

  async send(message: OutgoingMessage, { endpoint, p256dh, auth }: AddressOf<'web_push'>, signal: AbortSignal): Promise<SendResult> {
    const { vapid, subject, now } = this.#deps;
    let body: Buffer;
    try {
      body = encryptFor({ p256dh, auth }, Buffer.from(JSON.stringify(pushPayload(message))));
    } catch {
      return { outcome: 'never', error: 'refused', detail: 'the keys of the subscription are not valid', addressOff: 'key_refused' };
    }
    let authorization: string;
    try {
      authorization = await vapidHeader(await vapid(), endpoint, subject, now());
    } catch {
      return { outcome: 'config', error: 'signing_failed', detail: '' };
    }
    const headers = {
      authorization,
      'content-type': 'application/octet-stream',
      'content-encoding': 'aes128gcm',
      ttl: String(TTL_SECONDS),
      urgency: URGENCY[urgencyOf(message)],
      // A newer message of the thread replaces one that the browser has not fetched. At most 32 characters: an id without its dashes.
      topic: message.thread.id.replaceAll(/[^A-Za-z0-9_-]|-/g, '').slice(0, 32),
    };
    return sendRequest({ url: endpoint, headers, body, secrets: [] }, this.#deps, signal, judge);
  }
}

/** What the console's service worker shows. */
export function pushPayload({ text, thread }: OutgoingMessage): Record<string, unknown> {
  const rows = fitRows(text, ROWS_BUDGET_BYTES, (row) => Buffer.byteLength(JSON.stringify(row)) + 1);
  const links = { url: text.url, acknowledge_url: text.acknowledgeUrl };
  return { title: text.subject, lines: text.lines, rows, tone: text.tone, ...links, tag: thread.id, locale: text.locale };
}

/** 201, or 202 without storage; 404 and 410: the person has unsubscribed, or the browser has forgotten it. */
function judge(answer: ProviderAnswer): SendResult | undefined {
  const { status } = answer;
  if (status === 404 || status === 410) return { outcome: 'never', error: 'gone', detail: detailOf(answer), addressOff: 'gone' };
  // The subscription belongs to another key: the keys of this installation have changed.
  if (status === 401 || status === 403)
    return { outcome: 'never', error: 'unauthorized', detail: detailOf(answer), addressOff: 'key_refused' };
  return undefined;
}
