import { fitRows } from '../texts/rows.ts';
import type { Text, Tone } from '../texts/types.ts';
import { detailOf, jsonRequest, sendRequest } from './http.ts';
import type { ProviderAnswer } from './http.ts';
import type { HttpDeps } from './http.ts';
import type { AddressOf, Channel, OutgoingMessage, SendResult } from './types.ts';

/** A message in Teams has at most 28 kB; markup and sentences need less than half. */
const ROWS_BUDGET_BYTES = 12_000;

/** Microsoft Teams, by a workflow "When a Teams webhook request is received". 202 says that the flow was started, not that it posted. */
export class TeamsChannel implements Channel<'teams'> {
  readonly name = 'teams';
  /** Published for the retired connectors, and the only number there is: four requests a second. */
  readonly limits = { perSecond: 2, burst: 4 };
  readonly #deps: HttpDeps;

  constructor(deps: HttpDeps) {
    this.#deps = deps;
  }

  /** `/workflows/<id>/triggers/…?sig=secret`, with more in front of it at newer hosts. */
  bucketOf({ url }: AddressOf<'teams'>): string {
    const parsed = URL.parse(url);
    return `teams:${parsed?.hostname ?? ''}/${/\/workflows\/([^/]+)/.exec(parsed?.pathname ?? '')?.[1] ?? ''}`;
  }

  async send({ text }: OutgoingMessage, { url }: AddressOf<'teams'>, signal: AbortSignal): Promise<SendResult> {
    const secret = URL.parse(url)?.searchParams.get('sig') ?? '';
    return sendRequest(jsonRequest(url, teamsBody(text), { secrets: [secret] }), this.#deps, signal, judge);
  }
}

/** The flow belongs to one person and is deleted with the account; a changed signature never becomes right again. */
function judge(answer: ProviderAnswer): SendResult | undefined {
  const { status } = answer;
  if (status === 404 || status === 410) return { outcome: 'never', error: 'gone', detail: detailOf(answer), addressOff: 'gone' };
  if (status === 401 || status === 403)
    return { outcome: 'never', error: 'unauthorized', detail: detailOf(answer), addressOff: 'key_refused' };
  return undefined;
}

const COLOURS: Record<Tone, string> = { critical: 'Attention', warning: 'Warning', info: 'Accent', good: 'Good' };

/** A message with one adaptive card. Text runs, unlike text blocks, know no Markdown: names cannot become links. */
export function teamsBody(text: Text): Record<string, unknown> {
  const rows = fitRows(text, ROWS_BUDGET_BYTES, (row) => Buffer.byteLength(JSON.stringify(paragraph({ text: row }))) + 1);
  return {
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        contentUrl: null,
        content: {
          type: 'AdaptiveCard',
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          // The newest version that Teams shows on telephones, too.
          version: '1.4',
          // For notifications and screen readers.
          fallbackText: text.subject,
          speak: text.subject,
          msteams: { width: 'Full' },
          body: [
            paragraph({ text: text.labels.tone, weight: 'Bolder', color: COLOURS[text.tone], size: 'Small' }),
            paragraph({ text: text.first, weight: 'Bolder', size: 'Medium' }),
            ...text.lines.map((line) => paragraph({ text: line })),
            ...rows.map((row) => paragraph({ text: row })),
          ],
          actions: [
            { type: 'Action.OpenUrl', title: text.labels.open, url: text.url },
            ...(text.acknowledgeUrl === null ? [] : [{ type: 'Action.OpenUrl', title: text.labels.acknowledge, url: text.acknowledgeUrl }]),
          ],
        },
      },
    ],
  };
}

function paragraph(run: { text: string; weight?: string; color?: string; size?: string }): Record<string, unknown> {
  return { type: 'RichTextBlock', inlines: [{ type: 'TextRun', ...run }] };
}
