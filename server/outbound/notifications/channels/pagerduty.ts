import { cleanName, cutText } from '../texts/clean.ts';
import { fitRows } from '../texts/rows.ts';
import type { ThreadItem, ThreadView } from '../texts/types.ts';
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
    let result: SendResult = { outcome: 'stopped' };
    for (const event of eventsOf(message)) {
      const request = jsonRequest(url, { routing_key: routingKey, ...event }, { secrets: [routingKey] });
      result = await sendRequest(request, this.#deps, signal, judge);
      // All of them are sent again: PagerDuty knows events by their keys.
      if (result.outcome !== 'sent') return result;
    }
    return result;
  }
}

/**
 * Events without the key of the integration. What a storm leaves open has no incident of its own yet: it gets one before that of the storm
 * is resolved.
 */
export function eventsOf(message: OutgoingMessage): Record<string, unknown>[] {
  const { thread } = message;
  const remains = isEnd(thread) && standsForOthers(thread) ? thread.items.filter(isOpen) : [];
  return [...remains.map((item) => openingOf(item, message)), eventOf(message)];
}

function isOpen(item: ThreadItem): item is ThreadItem & { threadId: string } {
  return item.threadId !== undefined && item.resolvedAt === null;
}

function openingOf({ threadId, router, site, text, fault, openedAt }: ThreadItem & { threadId: string }, message: OutgoingMessage) {
  const { thread, text: words } = message;
  const name = cleanName(router?.name ?? site?.name ?? text);
  return {
    event_action: 'trigger',
    dedup_key: `signalbox-${threadId}`,
    payload: {
      summary: cutText(`${name}: ${words.subject}`, MAX_SUMMARY_CHARS),
      source: name === '' ? cleanName(thread.team) : name,
      severity: thread.severity,
      timestamp: new Date(openedAt).toISOString(),
      class: fault ?? thread.subject.type,
      group: cleanName(thread.team),
      custom_details: { thread_id: threadId },
    },
    client: 'Signalbox',
    client_url: words.url,
    links: [{ href: words.url, text: words.labels.open }],
  };
}

function eventOf({ id, thread, text, isTest }: OutgoingMessage): Record<string, unknown> {
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

function actionOf(thread: ThreadView): 'trigger' | 'acknowledge' | 'resolve' {
  if (thread.kind === 'acknowledged') return 'acknowledge';
  // Routers that stay offline although their agent is back are the same incident, with news; what remains of a storm has its own.
  return isEnd(thread) && (thread.stillOpen === 0 || standsForOthers(thread)) ? 'resolve' : 'trigger';
}

function isEnd({ kind }: ThreadView): boolean {
  return kind === 'resolve' || kind === 'was_away';
}

function standsForOthers({ subject: { type } }: ThreadView): boolean {
  return type === 'storm' || type === 'server';
}

/** Where it happens: PagerDuty groups and searches by it. */
function sourceOf({ subject, team }: ThreadView): string {
  const site = 'site' in subject ? subject.site?.name : undefined;
  const record = 'router' in subject ? subject.router?.name : undefined;
  const agent = 'agent' in subject ? subject.agent.name : undefined;
  return cleanName(site ?? record ?? agent ?? team);
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
