import { cleanName, cutText } from '../texts/clean.ts';
import { fitRows } from '../texts/rows.ts';
import type { ThreadView } from '../texts/types.ts';
import { detailOf, jsonRequest, readObject, sendRequest } from './http.ts';
import type { ProviderAnswer } from './http.ts';
import type { HttpDeps } from './http.ts';
import type { AddressOf, Channel, OutgoingMessage, SendResult } from './types.ts';

/** developer.pagerduty.com, Events API v2: a summary has at most 1,024 characters, an event 512 kB. */
const MAX_SUMMARY_CHARS = 1024;
const ROWS_BUDGET = 8000;
const URLS = { us: 'https://events.pagerduty.com/v2/enqueue', eu: 'https://events.eu.pagerduty.com/v2/enqueue' };

export interface PagerdutyDeps extends HttpDeps {
  /** Instead of PagerDuty's own addresses. */
  enqueueUrl?: string;
}

/** PagerDuty, Events API v2: one incident for each thread. */
export class PagerdutyChannel implements Channel<'pagerduty'> {
  readonly name = 'pagerduty';
  /** PagerDuty's staff names 120 events a minute for one integration key. */
  readonly limits = { perSecond: 2, burst: 10 };
  readonly #deps: PagerdutyDeps;

  constructor(deps: PagerdutyDeps) {
    this.#deps = deps;
  }

  /** The end of the key tells integrations apart and does not give it away. */
  bucketOf({ routingKey }: AddressOf<'pagerduty'>): string {
    return `pagerduty:${routingKey.slice(-6)}`;
  }

  async send(message: OutgoingMessage, { routingKey, region }: AddressOf<'pagerduty'>, signal: AbortSignal): Promise<SendResult> {
    const url = this.#deps.enqueueUrl ?? URLS[region];
    const body = { routing_key: routingKey, ...eventOf(message) };
    return sendRequest(jsonRequest(url, body, { secrets: [routingKey] }), this.#deps, signal, judge);
  }
}

/** An event without its key. */
export function eventOf({ id, thread, text, isTest }: OutgoingMessage): Record<string, unknown> {
  const action = actionOf(thread);
  // A test opens an incident of its own, which somebody closes: it must not touch a real one.
  const key = { event_action: action, dedup_key: isTest ? `signalbox-test-${id}` : `signalbox-${thread.id}` };
  if (action !== 'trigger') return key;
  return {
    ...key,
    payload: {
      summary: cutText(text.subject, MAX_SUMMARY_CHARS),
      source: sourceOf(thread),
      severity: thread.severity,
      timestamp: new Date(thread.firstAt).toISOString(),
      class: thread.subject.type,
      group: cleanName(thread.team),
      custom_details: {
        message: [text.first, ...text.lines].join('\n'),
        records: fitRows(text, ROWS_BUDGET, (row) => row.length + 4),
        record_count: thread.itemCount,
        thread_id: thread.id,
        revision: thread.revision,
      },
    },
    client: 'Signalbox',
    client_url: text.url,
    links: [
      { href: text.url, text: text.labels.open },
      ...(text.acknowledgeUrl === null ? [] : [{ href: text.acknowledgeUrl, text: text.labels.acknowledge }]),
    ],
  };
}

function actionOf({ kind, stillOpen }: ThreadView): 'trigger' | 'acknowledge' | 'resolve' {
  if (kind === 'acknowledged') return 'acknowledge';
  // Routers that stay offline are the same incident, with news.
  return (kind === 'resolve' || kind === 'was_away') && stillOpen === 0 ? 'resolve' : 'trigger';
}

/** Where it happens: PagerDuty groups and searches by it. */
function sourceOf({ subject, team }: ThreadView): string {
  const site = 'site' in subject ? subject.site?.name : undefined;
  const record = 'router' in subject ? subject.router?.name : undefined;
  return cleanName(site ?? record ?? team);
}

/** 202 with `status: success`; 400 names what is wrong in `errors`. */
function judge(answer: ProviderAnswer): SendResult | undefined {
  const { status } = answer;
  const body = readObject(answer.body);
  const errors = Array.isArray(body['errors']) ? body['errors'].filter((error) => typeof error === 'string') : [];
  const message = typeof body['message'] === 'string' ? body['message'] : '';
  if (status === 202) return { outcome: 'sent', ...(typeof body['dedup_key'] === 'string' ? { ref: body['dedup_key'] } : {}) };
  if (status !== 400) return undefined;
  const detail = detailOf(answer, [message, ...errors].join('; '));
  // The integration was deleted, or its key changed.
  const isKey = errors.some((error) => error.includes('routing_key'));
  return { outcome: 'never', error: 'refused', detail, ...(isKey ? { addressOff: 'key_refused' } : {}) };
}
