import { fitRows } from '../../texts/rows.ts';
import type { Text } from '../../texts/types.ts';
import type { OutgoingMessage } from '../types.ts';
import { renderHtml } from './html.ts';

/** A message as a mail. */

export interface Sender {
  /** "Signalbox" */
  name: string;
  address: string;
}

/** What a mail has besides its sender and its recipient; the members are nodemailer's. */
export interface Mail {
  messageId: string;
  subject: string;
  text: string;
  html: string;
  inReplyTo?: string;
  references: string[];
  headers: Record<string, string>;
  date: Date;
}

/** A line of `References` stays readable; mail programs need the first and the last ids. RFC 5537 section 3.4.4 keeps three; we keep more. */
const MAX_REFERENCES = 20;
const ROWS_BUDGET = 8000;

export function mailOf(message: OutgoingMessage, from: Sender, now: number): Mail {
  const domain = from.address.slice(from.address.lastIndexOf('@') + 1);
  const idOf = (id: string): string => `<${id}@${domain}>`;
  // The thread has an id of its own, so that its mails stand together even for somebody who did not get the first one.
  const root = idOf(`thread.${message.thread.id}`);
  const previous = message.previousIds.slice(-MAX_REFERENCES).map(idOf);
  return {
    messageId: idOf(message.id),
    subject: message.text.subject,
    text: plainText(message.text, message.unsubscribeUrl),
    html: renderHtml({ text: message.text, unsubscribeUrl: message.unsubscribeUrl }),
    inReplyTo: previous.at(-1) ?? root,
    references: [root, ...previous],
    headers: {
      // RFC 3834: no out-of-office notes in return.
      'Auto-Submitted': 'auto-generated',
      'X-Auto-Response-Suppress': 'All',
      'List-Id': `Signalbox <notifications.${domain}>`,
      ...unsubscribeHeaders(message.unsubscribeUrl),
    },
    date: new Date(now),
  };
}

/** RFC 8058: a program unsubscribes by one POST; a scanner's GET does nothing. */
function unsubscribeHeaders(url: string | undefined): Record<string, string> {
  if (url === undefined) return {};
  return { 'List-Unsubscribe': `<${url}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' };
}

function plainText(text: Text, unsubscribeUrl: string | undefined): string {
  const rows = fitRows(text, ROWS_BUDGET, (row) => row.length + 3);
  return [
    text.first,
    ...text.lines,
    ...(rows.length === 0 ? [] : ['', ...rows.map((row) => `- ${row}`)]),
    '',
    `${text.labels.open}: ${text.url}`,
    ...(text.acknowledgeUrl === null ? [] : [`${text.labels.acknowledge}: ${text.acknowledgeUrl}`]),
    '',
    '-- ',
    text.labels.reason,
    ...(unsubscribeUrl === undefined ? [] : [`${text.labels.unsubscribe}: ${unsubscribeUrl}`]),
    '',
  ].join('\n');
}
