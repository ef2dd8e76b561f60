import { cutText } from '../texts/clean.ts';
import { fitRows } from '../texts/rows.ts';
import type { Text } from '../texts/types.ts';
import { detailOf, jsonRequest, sendRequest } from './http.ts';
import type { ProviderAnswer } from './http.ts';
import type { HttpDeps } from './http.ts';
import type { AddressOf, Channel, OutgoingMessage, SendResult } from './types.ts';

/** docs.slack.dev: a header has at most 150 characters, a text of a section 3,000, a message 50 blocks. */
const MAX_HEADER_CHARS = 150;
const MAX_SECTION_CHARS = 3000;

/** Slack, by an incoming webhook. Its messages cannot be edited, so an update is a new message. */
export class SlackChannel implements Channel<'slack'> {
  readonly name = 'slack';
  /** docs.slack.dev/apis/web-api/rate-limits: one message a second for each webhook, with short bursts. */
  readonly limits = { perSecond: 1, burst: 3 };
  readonly #deps: HttpDeps;

  constructor(deps: HttpDeps) {
    this.#deps = deps;
  }

  /** `/services/T…/B…/secret`: the first two name workspace and webhook. */
  bucketOf({ url }: AddressOf<'slack'>): string {
    const [, , workspace = '', webhook = ''] = (URL.parse(url)?.pathname ?? '').split('/');
    return `slack:${workspace}/${webhook}`;
  }

  async send({ text }: OutgoingMessage, { url }: AddressOf<'slack'>, signal: AbortSignal): Promise<SendResult> {
    const secret = url.split('/').at(-1) ?? '';
    return sendRequest(jsonRequest(url, slackBody(text), { secrets: [secret] }), this.#deps, signal, judge);
  }
}

/** Errors of docs.slack.dev/messaging/sending-messages-using-incoming-webhooks; the body is the bare word. */
const ENDED: ReadonlySet<string> = new Set([
  'no_service',
  'no_service_id',
  'no_team',
  'team_disabled',
  'invalid_token',
  'channel_not_found',
  'channel_is_archived',
  'user_not_found',
]);

function judge(answer: ProviderAnswer): SendResult | undefined {
  const { status } = answer;
  if (status === 404 || status === 410 || (status === 403 && ENDED.has(answer.body.trim()))) {
    return { outcome: 'never', error: 'gone', detail: detailOf(answer), addressOff: 'gone' };
  }
  // The webhook is the account: a workspace that forbids it (`action_prohibited`) concerns no other address.
  return status === 403 ? { outcome: 'never', error: 'refused', detail: detailOf(answer) } : undefined;
}

/** Everything that routers have a part in is `plain_text`, which knows no links, no mentions and, switched off, no emoji. */
export function slackBody(text: Text): Record<string, unknown> {
  const rows = fitRows(text, MAX_SECTION_CHARS, (row) => escapeSlack(`• ${row}\n`).length);
  const sentences = [text.first, ...text.lines].join('\n');
  return {
    // For notifications and screen readers.
    text: escapeSlack(text.subject),
    unfurl_links: false,
    unfurl_media: false,
    blocks: [
      { type: 'header', text: plain(cutText(text.subject, MAX_HEADER_CHARS), MAX_HEADER_CHARS) },
      { type: 'section', text: plain(sentences, MAX_SECTION_CHARS) },
      ...(rows.length === 0 ? [] : [{ type: 'section', text: plain(rows.map((row) => `• ${row}`).join('\n'), MAX_SECTION_CHARS) }]),
      { type: 'section', text: { type: 'mrkdwn', text: linksOf(text), verbatim: true } },
    ],
  };
}

function linksOf({ url, acknowledgeUrl, labels }: Text): string {
  const link = (to: string, label: string): string => `<${escapeSlack(to)}|${escapeSlack(label)}>`;
  return [link(url, labels.open), ...(acknowledgeUrl === null ? [] : [link(acknowledgeUrl, labels.acknowledge)])].join('   ');
}

function plain(text: string, max: number): Record<string, unknown> {
  // Escaping makes text longer; in the worst case the last characters give way.
  let kept = text;
  while (escapeSlack(kept).length > max) kept = cutText(kept, kept.length - Math.max(1, Math.ceil((escapeSlack(kept).length - max) / 5)));
  return { type: 'plain_text', text: escapeSlack(kept), emoji: false };
}

/** The three characters that begin mentions and links in Slack. */
export function escapeSlack(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
