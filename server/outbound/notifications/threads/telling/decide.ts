import { FLAP_WINDOW_MS, REMIND_EVERY_MS, STAYS_OPEN_MS, STAYS_QUIET_MS } from '../timing.ts';
import type { Revision, ThreadRow } from '../types.ts';

/** What a thread tells when it is due. Pure. */

export interface Told {
  /** As it is to be stored. */
  thread: ThreadRow;
  revision: Revision | undefined;
}

export interface Moment {
  now: number;
  isMuted: boolean;
  /** When the mute ends or begins by its schedule; null: not by itself. */
  nextChange: number | null;
}

/** A campaign runs for days; its messages belong together. */
const CAMPAIGN_STAYS_MS = 24 * 3_600_000;

/** @param due a thread that no other stands for, and that has records of its own */
export function decide(due: ThreadRow, moment: Moment): Told {
  const { now, isMuted } = moment;
  const infoKind = due.revision === 0 ? 'open' : 'update';
  switch (due.pending) {
    case 'open':
      return open(due, moment);
    case 'end':
      // Whoever was told of the opening hears of the end, also during a mute.
      return tell(rest({ ...due, told_open: 0 }, now), 'resolve', now);
    case 'over':
      return withhold(rest(due, now), 'resolve', 'over_before_told');
    case 'info':
      return isMuted ? withhold(rest(due, now), infoKind, 'muted') : tell(rest(due, now), infoKind, now);
    case 'flapping':
      return flapping(due, moment);
    case 'steady':
      return steady(due, moment);
    default:
      return idle(due, moment);
  }
}

function open(due: ThreadRow, { now, isMuted, nextChange }: Moment): Told {
  if (isMuted) return withhold({ ...due, muted: 1, flush_at: nextChange }, 'open', 'muted');
  const told = { ...nothingPending(due), told_open: 1 as const, muted: 0 as const, flush_at: remindAt(due, now) };
  return tell(told, due.muted === 1 ? 'still_open' : 'open', now);
}

function flapping(due: ThreadRow, { now, isMuted }: Moment): Told {
  const wait = due.state === 'open' ? STAYS_OPEN_MS : STAYS_QUIET_MS;
  const waiting = { ...due, pending: 'steady', pending_since: now, flush_at: now + wait };
  return isMuted ? withhold(waiting, 'update', 'muted') : tell(waiting, 'update', now);
}

/** It stays open, or quiet. That is an opening or an end like any other. */
function steady(due: ThreadRow, moment: Moment): Told {
  const wasTold = due.told_at !== null && due.flapping_since !== null && due.told_at >= due.flapping_since;
  const calm = { ...due, flapping_since: null };
  if (due.state === 'open') return open({ ...calm, pending: 'open' }, moment);
  const ended = rest({ ...calm, told_open: 0, openings: '[]' }, moment.now);
  return wasTold ? tell(ended, 'resolve', moment.now) : withhold(ended, 'resolve', 'over_before_told');
}

/** Nothing new: a reminder, or the end of the time in which it might have come back. */
function idle(due: ThreadRow, { now, isMuted, nextChange }: Moment): Told {
  if (due.state !== 'open') return silently({ ...due, flush_at: null, closed_at: now });
  const again = remindAt(due, now);
  if (again === null || due.told_open === 0) return silently({ ...due, flush_at: null });
  if (isMuted) return silently({ ...due, flush_at: nextChange ?? again });
  return tell({ ...due, flush_at: again }, 'reminder', now);
}

export function remindAt(thread: ThreadRow, now: number): number | null {
  return thread.severity === 'critical' && thread.acknowledged_at === null ? now + REMIND_EVERY_MS : null;
}

/** Nothing is left to tell: it stays for a while, so that what comes back joins it. Single facts are done at once. */
export function rest(thread: ThreadRow, now: number): ThreadRow {
  const quiet = { ...nothingPending(thread), muted: 0 as const };
  if (thread.state === 'open') return { ...quiet, flush_at: thread.told_open === 1 ? remindAt(thread, now) : null };
  if (/:(?:jobs|config|revoked)$/.test(thread.key)) return { ...quiet, flush_at: null, closed_at: now };
  return { ...quiet, flush_at: now + (thread.key.startsWith('campaign:') ? CAMPAIGN_STAYS_MS : FLAP_WINDOW_MS) };
}

function nothingPending(thread: ThreadRow): ThreadRow {
  return { ...thread, pending: null, pending_since: null };
}

export function tell(thread: ThreadRow, kind: Revision['kind'], now: number): Told {
  const told = { ...thread, revision: thread.revision + 1, told_at: now, told_count: thread.open_count, updated_at: now };
  return { thread: told, revision: { thread: told, kind, withheld: null } };
}

function withhold(thread: ThreadRow, kind: Revision['kind'], withheld: NonNullable<Revision['withheld']>): Told {
  return { thread, revision: { thread, kind, withheld } };
}

function silently(thread: ThreadRow): Told {
  return { thread, revision: undefined };
}
