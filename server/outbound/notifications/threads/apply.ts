import type { ItemRow, NoticeRow, ThreadRow } from './types.ts';
import { FRESH } from './new-thread.ts';
import { lookAt } from './telling/care.ts';
import {
  AGAIN,
  CAMPAIGN_JOBS,
  ENDING,
  FLAP_OPENINGS,
  FLAP_WINDOW_MS,
  GATHERING,
  JOBS,
  OPENING,
  STAYS_OPEN_MS,
  STAYS_QUIET_MS,
  settledAt,
} from './timing.ts';
import type { Settling } from './timing.ts';

/** What a notice does to a thread. Pure: the given rows are not changed. */

export interface Applied {
  thread: ThreadRow;
  item: ItemRow;
}

/**
 * Adds a notice to a thread. Undefined when it changes nothing: it came before, or ends what was never opened.
 * @param item what the thread has of the notice's record
 * @param now when it is applied; waits count from here, not from the time of the fact
 */
export function applyNotice(thread: ThreadRow, item: ItemRow | undefined, notice: NoticeRow, now: number): Applied | undefined {
  if (item && item.version >= notice.version) return undefined;
  switch (notice.phase) {
    case 'open':
      return opened(thread, item, notice, now);
    case 'resolve':
      return item && item.resolved_at === null ? resolved(thread, item, notice, now) : undefined;
    default:
      return informed(thread, item, notice, now);
  }
}

function opened(thread: ThreadRow, item: ItemRow | undefined, notice: NoticeRow, now: number): Applied {
  const wasOpen = item !== undefined && item.resolved_at === null;
  const next = { ...itemOf(thread, notice), opened_at: wasOpen ? item.opened_at : notice.at, resolved_at: null };
  const counted = {
    ...thread,
    kinds: kindsWith(thread, notice.kind),
    severity: worse(thread.severity, notice.severity),
    open_count: thread.open_count + (wasOpen ? 0 : 1),
    item_count: thread.item_count + (item ? 0 : 1),
    updated_at: now,
  };
  if (thread.state === 'open' && thread.open_count > 0) return { thread: counted, item: next };
  return { thread: begin(counted, notice.at, now), item: next };
}

/** The thread opens, for the first time or again. */
function begin(thread: ThreadRow, at: number, now: number): ThreadRow {
  const openings = [...openingsOf(thread).filter((time) => time > now - FLAP_WINDOW_MS), now].slice(-FLAP_OPENINGS - 7);
  const open = { ...thread, state: 'open', ended_at: null, openings: JSON.stringify(openings) };
  if (thread.flapping_since !== null) return waitUntilSteady({ ...open, first_at: at }, now);
  // Its end was not told yet: it never ended for those who were told.
  const neverEnded = thread.told_open === 1;
  const begun = neverEnded
    ? { ...open, pending: null, pending_since: null, flush_at: lookAt(open, thread.told_at ?? now) }
    : { ...open, first_at: at };
  if (openings.length >= FLAP_OPENINGS)
    return { ...begun, flapping_since: now, pending: 'flapping', pending_since: now, flush_at: now + OPENING.quietMs };
  if (neverEnded) return begun;
  const wasToldBefore = openings.length > 1 && thread.told_at !== null;
  return wait({ ...begun, ...FRESH }, 'open', wasToldBefore ? AGAIN : OPENING, now);
}

function resolved(thread: ThreadRow, item: ItemRow, notice: NoticeRow, now: number): Applied {
  const next = { ...item, version: notice.version, resolved_at: Math.max(notice.at, item.opened_at) };
  const kinds = kindsWith(thread, notice.kind);
  const left = { ...thread, kinds, open_count: Math.max(0, thread.open_count - 1), updated_at: now };
  return { thread: left.open_count === 0 ? end(left, next.resolved_at, now) : left, item: next };
}

/** Nothing in the thread is open any more. */
export function end(thread: ThreadRow, at: number, now: number): ThreadRow {
  const ended = { ...thread, state: 'ended', ended_at: at };
  if (thread.flapping_since !== null) return waitUntilSteady(ended, now);
  if (thread.told_open === 1) return wait({ ...ended, pending: null, pending_since: null }, 'end', ENDING, now);
  return { ...ended, pending: 'over', pending_since: now, flush_at: now };
}

/** A flapping thread says nothing until it stays open or quiet; its first message, that it flaps, is not held back. */
function waitUntilSteady(thread: ThreadRow, now: number): ThreadRow {
  if (thread.pending === 'flapping') return thread;
  const wait = thread.state === 'open' ? STAYS_OPEN_MS : STAYS_QUIET_MS;
  return { ...thread, pending: 'steady', pending_since: now, flush_at: now + wait };
}

function informed(thread: ThreadRow, item: ItemRow | undefined, notice: NoticeRow, now: number): Applied {
  const next = { ...itemOf(thread, notice), opened_at: notice.at, resolved_at: notice.at };
  const counted = {
    ...thread,
    kinds: kindsWith(thread, notice.kind),
    severity: worse(thread.severity, notice.severity),
    item_count: thread.item_count + (item ? 0 : 1),
    updated_at: now,
  };
  // What is about to be told says it as well.
  if (counted.pending !== null && counted.pending !== 'info') return { thread: counted, item: next };
  return { thread: wait(counted, 'info', settlingOf(thread.key, notice.kind), now), item: next };
}

function settlingOf(key: string, kind: string): Settling {
  if (!kind.startsWith('job.')) return OPENING;
  return key.startsWith('campaign:') ? CAMPAIGN_JOBS : JOBS;
}

/** What is not told yet is told together; what opens or happens after that says its own kind. */
function kindsWith({ kinds, pending, state }: ThreadRow, kind: string): string {
  const untold = pending === null && state !== 'open' ? [] : kindsOf({ kinds });
  return JSON.stringify([...new Set([...untold, kind])]);
}

/** Kinds of the facts that its next message tells, or its last one told. Empty when no fact is behind it. */
export function kindsOf({ kinds }: Pick<ThreadRow, 'kinds'>): string[] {
  return JSON.parse(kinds) as string[];
}

/** A thread that stands for others has one more to tell of. */
export function withKindsOf(parent: ThreadRow, children: readonly Pick<ThreadRow, 'kinds'>[]): ThreadRow {
  return { ...parent, kinds: JSON.stringify([...new Set([...kindsOf(parent), ...children.flatMap(kindsOf)])]) };
}

/** A thread that stands for others waits for quiet before it says how many they are. While it comes and goes it is looked at anyway. */
export function stir(parent: ThreadRow, child: ThreadRow, now: number): ThreadRow {
  const told = withKindsOf(parent, [child]);
  return parent.flapping_since === null ? wait(told, parent.pending ?? 'update', GATHERING, now) : told;
}

/** A thread that opens leaves the one that stood for it. */
export function standAlone(thread: ThreadRow, now: number): ThreadRow {
  const alone: ThreadRow = { ...thread, parent_id: null, told_in: null, flapping_since: null };
  return alone.pending === 'open' ? alone : wait(alone, 'open', OPENING, now);
}

/** Waits for quiet; the longest wait counts from the first change that was not told. */
export function wait(thread: ThreadRow, pending: string, settling: Settling, now: number): ThreadRow {
  const since = thread.pending === pending ? (thread.pending_since ?? now) : now;
  return { ...thread, pending, pending_since: since, flush_at: settledAt(settling, since, now) };
}

function itemOf(thread: ThreadRow, notice: NoticeRow): Omit<ItemRow, 'opened_at' | 'resolved_at'> {
  const { team_id, record_id, kind, severity, router_id, agent_id, version, data } = notice;
  return { thread_id: thread.id, team_id, record_id, kind, severity, router_id, agent_id, version, data };
}

export function openingsOf(thread: Pick<ThreadRow, 'openings'>): number[] {
  return JSON.parse(thread.openings) as number[];
}

const RANK = ['info', 'warning', 'critical'];

/** The severity of several together. */
export function worst(threads: readonly Pick<ThreadRow, 'severity'>[]): string {
  return threads.map(({ severity }) => severity).reduce(worse, 'info');
}

function worse(one: string, other: string): string {
  return RANK.indexOf(one) >= RANK.indexOf(other) ? one : other;
}
