import { fitRows } from '../texts/rows.ts';
import type { Severity, Text } from '../texts/types.ts';
import type { OutgoingMessage } from './types.ts';

/** A message as plain text of limited length: the sentences first, then as much of the list as fits. */

export interface PlainOptions {
  /** What all of it may measure. */
  budget: number;
  /** UTF-16 units, bytes … as the provider counts. */
  measure: (text: string) => number;
  /** In front of the sentences: the subject where the provider has no field for a title. */
  title?: string;
  withUrl: boolean;
}

/** How loud a message is. An end is heard, and is no alarm, whatever has ended. */
export type Urgency = Severity | 'end';

export function urgencyOf({ text, thread }: Pick<OutgoingMessage, 'text' | 'thread'>): Urgency {
  return text.tone === 'good' ? 'end' : thread.severity;
}

/** Separator between the parts. */
const GAP = '\n';

export function plainText(text: Text, { budget, measure, title, withUrl }: PlainOptions): string {
  const url = withUrl ? ['', text.url, ...acknowledgeLine(text)] : [];
  // The link and the first sentence always have their place: subjects, sentences and names have limits of their own.
  const sentences = [...(title === undefined ? [] : [title]), text.first, ...text.lines];
  const above = withinBudget(sentences, budget - measureAll(url, measure), measure);
  const left = budget - measureAll([...above, ...url], measure) - measure(GAP);
  const rows = above.length < sentences.length ? [] : fitRows(text, left, (row) => measure(`• ${row}${GAP}`));
  return [...above, ...(rows.length === 0 ? [] : ['', ...rows.map((row) => `• ${row}`)]), ...url].join(GAP);
}

function acknowledgeLine({ acknowledgeUrl: url, labels }: Text): string[] {
  return url === null ? [] : [`${labels.acknowledge}: ${url}`];
}

function withinBudget(lines: readonly string[], budget: number, measure: (text: string) => number): string[] {
  const kept: string[] = [];
  for (const line of lines) {
    if (measureAll([...kept, line], measure) > budget) break;
    kept.push(line);
  }
  return kept;
}

function measureAll(lines: readonly string[], measure: (text: string) => number): number {
  return lines.reduce((sum, line) => sum + measure(`${line}${GAP}`), 0);
}

export const utf16Units = (text: string): number => text.length;
export const utf8Bytes = (text: string): number => Buffer.byteLength(text);
