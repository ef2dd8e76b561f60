import type { HistoryItem } from '../../../client/browser.ts';
import { covering } from './pieces.ts';
import type { Kind, Piece, Rails, Span } from './pieces.ts';

const KIND_OF_STATE: Record<string, Kind> = { answering: 'heard', not_answering: 'not', agent_away: 'unasked', never_seen: 'never' };
/** Ends of sessions in which the agent never was there. */
const NEVER_READY = new Set(['handshake_timeout', 'version']);

interface Known {
  /** States of the router, sessions of its agent and times that nobody knew of, in any order; the ones before the time included. */
  items: readonly HistoryItem[];
  /** Until this moment nothing existed. */
  createdAt: number;
}

/** The rails of one router from its history. */
export function railsOfHistory({ items, createdAt }: Known, span: Span): Rails {
  const states = oldestFirst(items, 'state').map((item) => pieceOfState(item, span.to));
  const sessions = oldestFirst(items, 'session').filter(({ status }) => !NEVER_READY.has(status));
  const gaps = gapsOf(sessions, span.to);
  const nobodyKnew = oldestFirst(items, 'unknown').map((item): Piece => ({ ...timeOf(item, span.to), kind: 'unknown' }));
  const before: Piece = { from: span.from, to: Math.max(span.from, createdAt), kind: 'never' };
  return {
    ...span,
    agent: covering(span, [before, ...sessions.map((item) => pieceOfSession(item, span.to)), ...gaps, ...nobodyKnew], 'never'),
    router: covering(span, [before, ...states, ...nobodyKnew], 'never'),
  };
}

function oldestFirst(items: readonly HistoryItem[], kind: HistoryItem['kind']): HistoryItem[] {
  return items.filter((item) => item.kind === kind).sort((one, other) => Date.parse(one.at) - Date.parse(other.at));
}

function timeOf({ at, until }: Pick<HistoryItem, 'at' | 'until'>, now: number): Span {
  return { from: Date.parse(at), to: until === null ? now : Date.parse(until) };
}

function pieceOfState({ at, until, status, title }: HistoryItem, now: number): Piece {
  const [, reason] = title.split(': ');
  return { ...timeOf({ at, until }, now), kind: KIND_OF_STATE[status] ?? 'unknown', reason };
}

function pieceOfSession({ at, until, title }: HistoryItem, now: number): Piece {
  return { ...timeOf({ at, until }, now), kind: 'heard', fact: title.split(' from ')[1] };
}

/** Times between sessions, with how the one before ended. A session that was replaced overlaps the next one and leaves no gap. */
function gapsOf(sessions: readonly HistoryItem[], now: number): Piece[] {
  let heardUntil = -Infinity;
  let reason: string | undefined;
  const gaps: Piece[] = [];
  for (const { at, until, status } of sessions) {
    const from = Date.parse(at);
    if (reason !== undefined && from > heardUntil) gaps.push(gap(heardUntil, from, reason));
    const to = until === null ? now : Date.parse(until);
    if (to >= heardUntil) [heardUntil, reason] = [to, status];
  }
  if (reason !== undefined && reason !== 'open' && heardUntil < now) gaps.push(gap(heardUntil, now, reason));
  return gaps;
}

function gap(from: number, to: number, reason: string): Piece {
  return { from, to, kind: 'away', reason };
}
