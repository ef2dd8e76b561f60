import type { Input } from '../command.ts';
import type { Column } from '../text.ts';

/** What the commands about notifications have in common. */

/** As many as a screen or two. */
const SHOWN = 50;
export const LIMIT = { value: 'N', help: `at most N of them, and how many there are; default: ${SHOWN}` };

/** Somebody whom a group names. */
interface Receiver {
  user_id: string | null;
  target: string | null;
  channel: string;
  address: string | null;
}

export const WHO: readonly Column<Receiver>[] = [
  ['TO', ({ target, address, user_id: user }) => target ?? address ?? user],
  ['CHANNEL', ({ channel }) => channel],
];

/** `withheld: muted`. */
export function stateOf({ state, reason }: { state: string; reason: string | null }): string {
  return reason === null ? state : `${state}: ${reason}`;
}

/** What became of a message: `delivered 08:31`, in UTC as all times here; with the day when it is another one. */
export function deliveryOf(message: Delivery): string {
  const { state, reason, created_at: created, delivered_at: delivered, read_at: read, attempts } = message;
  if (read !== null) return `read ${timeAfter(created, read)}`;
  if (delivered !== null) return `delivered ${timeAfter(created, delivered)}`;
  if (state === 'failed' && attempts.at(-1)?.outcome === 'undelivered') return `not delivered: ${reason ?? 'undelivered'}`;
  return stateOf({ state, reason });
}

interface Delivery {
  state: string;
  reason: string | null;
  created_at: string;
  delivered_at: string | null;
  read_at: string | null;
  attempts: readonly { outcome: string }[];
}

function timeAfter(from: string, at: string): string {
  const [day, time] = [at.slice(0, 'yyyy-mm-dd'.length), at.slice('yyyy-mm-ddT'.length, 'yyyy-mm-ddThh:mm'.length)];
  return from.startsWith(day) ? time : `${day} ${time}`;
}

/** The provider's last word. */
export function answerOf({ attempts }: { attempts: readonly { error: string | null; detail: string | null }[] }): string | null {
  const last = attempts.at(-1);
  return last?.detail || last?.error || null;
}

export function pageOf(input: Input): { limit: number; total: 'true' } {
  return { limit: input.number('limit') ?? SHOWN, total: 'true' };
}

/** `50 of 1200 messages`, when there are more than are shown. */
export function moreText(
  count: number,
  { total, total_is_exact: isExact }: { total?: number; total_is_exact?: boolean },
  what: string,
): string {
  if (total === undefined || total === count) return '';
  return `\n${count} of ${isExact === false ? 'more than ' : ''}${total} ${what}\n`;
}

/** The values of an option, separated by commas. */
export function wordsOf(input: Input, name: string): string[] | undefined {
  return input.option(name)?.split(',');
}

/** A time so many minutes from now. */
export function inMinutes(minutes: number): string {
  return new Date(Date.now() + minutes * 60_000).toISOString();
}
