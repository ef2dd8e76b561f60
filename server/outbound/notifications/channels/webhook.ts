import { signedHeaders } from '../../../platform/outgoing/signature.ts';
import { accountOn } from './bucket.ts';
import { jsonRequest, sendRequest } from './http.ts';
import type { HttpDeps } from './http.ts';
import type { AddressOf, Channel, OutgoingMessage, SendResult } from './types.ts';
import type { ThreadItem, ThreadSubject } from '../texts/types.ts';

/**
 * A receiver of the team's own, with the facts as data and the words beside them. Signed by Standard Webhooks with the team's secret, as
 * job updates are: docs/webhooks.md.
 */
export class WebhookChannel implements Channel<'webhook'> {
  readonly name = 'webhook';
  /** Ours: receivers are programs, and a storm is a few dozen messages. */
  readonly limits = { perSecond: 10, burst: 20 };
  readonly #deps: HttpDeps;

  constructor(deps: HttpDeps) {
    this.#deps = deps;
  }

  /** Each address by itself: others on the same host may belong to other programs. */
  bucketOf({ url }: AddressOf<'webhook'>): string {
    return accountOn(`webhook:${URL.parse(url)?.origin ?? ''}`, url);
  }

  async send(message: OutgoingMessage, { url, secrets }: AddressOf<'webhook'>, signal: AbortSignal): Promise<SendResult> {
    // Receivers would reject an unsigned message.
    if (secrets.length === 0) return { outcome: 'config', error: 'signing_failed', detail: 'the team has no webhook secret' };
    const request = jsonRequest(url, webhookBody(message));
    const headers = signedHeaders({ id: message.id, at: this.#deps.now(), body: String(request.body) }, secrets);
    return sendRequest({ ...request, headers }, this.#deps, signal, () => undefined);
  }
}

/** The body of a webhook. Names are as they are stored; only `text` is made for people. */
export function webhookBody({ id, thread, text, isTest }: OutgoingMessage): Record<string, unknown> {
  return {
    type: `notification.${thread.kind}`,
    timestamp: iso(thread.at),
    data: {
      message_id: id,
      is_test: isTest,
      team: thread.team,
      thread: {
        id: thread.id,
        revision: thread.revision,
        severity: thread.severity,
        subject: subjectBody(thread.subject),
        first_at: iso(thread.firstAt),
        last_at: iso(thread.lastAt),
        ended_at: thread.endedAt === null ? null : iso(thread.endedAt),
        item_count: thread.itemCount,
        open_count: thread.openCount,
        still_open: thread.stillOpen,
        items: thread.items.map(itemBody),
        flapping: thread.flapping === null ? null : { times: thread.flapping.times, within_ms: thread.flapping.withinMs },
        acknowledged_by: thread.acknowledgedBy,
        site_time_zone: thread.siteTimeZone,
        url: thread.url,
        acknowledge_url: text.acknowledgeUrl,
      },
      text: { locale: text.locale, subject: text.subject, first: text.first, lines: text.lines, rows: text.rows, row_count: text.rowCount },
    },
  };
}

function subjectBody(subject: ThreadSubject): Record<string, unknown> {
  if (subject.type === 'digest') return { type: subject.type, from: iso(subject.from), to: iso(subject.to) };
  if (subject.type !== 'proof') return { ...subject };
  const { validMs, ...rest } = subject;
  return { ...rest, valid_ms: validMs };
}

function itemBody({ text, fault, router, site, routers, openedAt, resolvedAt }: ThreadItem): Record<string, unknown> {
  return {
    text,
    fault: fault ?? null,
    router,
    site,
    routers: routers ?? null,
    opened_at: iso(openedAt),
    resolved_at: resolvedAt === null ? null : iso(resolvedAt),
  };
}

function iso(time: number): string {
  return new Date(time).toISOString();
}
