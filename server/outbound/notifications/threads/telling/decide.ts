import { FLAP_WINDOW_MS, STAYS_OPEN_MS, STAYS_QUIET_MS } from '../timing.ts';
import type { ThreadRow } from '../types.ts';
import { care, lookAt, watch } from './care.ts';
import type { Hold, Moment } from './moment.ts';
import { silently, tell, withhold } from './told.ts';
import type { Told } from './told.ts';

/** What a thread tells when it is due. Pure. */

/** A campaign runs for days; its messages belong together. */
const CAMPAIGN_STAYS_MS = 24 * 3_600_000;

/** @param due a thread that no other stands for, and that has records of its own */
export function decide(due: ThreadRow, moment: Moment): Told {
  const { now, hold } = moment;
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
      return hold ? withhold(rest(due, now), infoKind, hold.reason) : tell(rest(due, now), infoKind, now);
    case 'flapping':
      return flapping(due, moment);
    case 'steady':
      return steady(due, moment);
    default:
      return idle(due, moment);
  }
}

function open(due: ThreadRow, { now, hold, chain }: Moment): Told {
  if (hold) return withhold(heldBack(due, hold), 'open', hold.reason);
  const told = { ...nothingPending(due), told_open: 1 as const, muted: 0 as const };
  return tell(watch(told, chain, now), wasHeldBack(due) ? 'still_open' : 'open', now);
}

export function heldBack(thread: ThreadRow, { reason, until }: Hold): ThreadRow {
  const silencedUntil = reason === 'silenced' ? until : null;
  return { ...thread, muted: reason === 'muted' ? 1 : 0, silenced_until: silencedUntil, flush_at: until };
}

/** Its opening waited for the end of a mute or a silence. */
export function wasHeldBack({ muted, silenced_until: silencedUntil }: ThreadRow): boolean {
  return muted === 1 || silencedUntil !== null;
}

function flapping(due: ThreadRow, { now, hold }: Moment): Told {
  const wait = due.state === 'open' ? STAYS_OPEN_MS : STAYS_QUIET_MS;
  const waiting = { ...due, pending: 'steady', pending_since: now, flush_at: now + wait };
  return hold ? withhold(waiting, 'update', hold.reason) : tell({ ...waiting, told_open: 1 }, 'update', now);
}

/** It stays open, or quiet. That is an opening or an end like any other. */
function steady(due: ThreadRow, moment: Moment): Told {
  const calm = { ...due, flapping_since: null };
  if (due.state === 'open') return open({ ...calm, pending: 'open' }, moment);
  const ended = rest({ ...calm, told_open: 0, openings: '[]' }, moment.now);
  return due.told_open === 1 ? tell(ended, 'resolve', moment.now) : withhold(ended, 'resolve', 'over_before_told');
}

/** Nothing new: somebody has to be reminded, or the time is over in which it might have come back. */
function idle(due: ThreadRow, moment: Moment): Told {
  if (due.state !== 'open') return silently({ ...due, flush_at: null, closed_at: moment.now });
  return due.told_open === 0 ? silently({ ...due, flush_at: null }) : care(due, moment);
}

/** Nothing is left to tell: it stays for a while, so that what comes back joins it. Single facts are done at once. */
export function rest(thread: ThreadRow, now: number): ThreadRow {
  const quiet = { ...nothingPending(thread), muted: 0 as const, silenced_until: null };
  if (thread.state === 'open') return { ...quiet, flush_at: thread.told_open === 1 ? lookAt(thread, now) : null };
  const over = { ...quiet, escalate_at: null };
  if (/^delivery:|:(?:jobs|config|revoked)$/.test(thread.key)) return { ...over, flush_at: null, closed_at: now };
  return { ...over, flush_at: now + (thread.key.startsWith('campaign:') ? CAMPAIGN_STAYS_MS : FLAP_WINDOW_MS) };
}

function nothingPending(thread: ThreadRow): ThreadRow {
  return { ...thread, pending: null, pending_since: null };
}
