import { openingsOf } from '../apply.ts';
import { restOf } from '../gather.ts';
import { FLAP_OPENINGS, STAYS_OPEN_MS, STAYS_QUIET_MS, STORM_REST } from '../timing.ts';
import type { ThreadRow } from '../types.ts';
import { earliest, watch } from './care.ts';
import { heldBack, rest, wasHeldBack } from './decide.ts';
import type { Moment } from './moment.ts';
import type { GroupResult } from './result.ts';
import { tell } from './told.ts';

/** Threads that stand for others and come and go. Pure. */

/** One is calm when no more than `STORM_REST` of its threads have moved for a while. */
export const MOVES = STORM_REST + 1;

/** It is told as one that comes and goes, and then not before it is calm. */
export function startFlapping(parent: ThreadRow, threads: readonly ThreadRow[], now: number): ThreadRow {
  const own = openingsOf(parent);
  const [most = own] = threads.map(openingsOf).toSorted((one, other) => other.length - one.length);
  return {
    ...parent,
    openings: JSON.stringify(own.length >= FLAP_OPENINGS ? own : most),
    flapping_since: now,
    pending: 'steady',
    pending_since: now,
    flush_at: now + STAYS_OPEN_MS,
  };
}

/** A thread that stands for others and comes and goes is told again when hardly any of them moves: it stays open, or it is over. */
export function calmDown(counted: ThreadRow, moves: readonly number[], moment: Moment, result: GroupResult): void {
  const { now, hold, chain } = moment;
  const busyAt = moves[MOVES - 1] ?? -Infinity;
  const staysOpen = counted.open_count > restOf(counted);
  const calmAt = busyAt + (staysOpen ? STAYS_OPEN_MS : STAYS_QUIET_MS);
  const calm: ThreadRow = { ...counted, flapping_since: null, pending: null, pending_since: null, muted: 0 };
  if (calmAt > now) {
    // What is quiet now may be open when it has been calm for long enough.
    const looks = [busyAt + STAYS_OPEN_MS, calmAt].filter((at) => at > now);
    result.put({ ...counted, muted: 0, flush_at: Math.min(...looks) });
  } else if (!staysOpen) {
    const ended: ThreadRow = { ...calm, state: 'ended', ended_at: moves[0] ?? now, told_open: 0, openings: '[]' };
    result.tell(tell(rest(ended, now), 'resolve', now));
    result.released.push(counted);
  } else if (hold) {
    // Its end must be seen, however long the mute lasts.
    result.put({ ...heldBack(counted, hold), flush_at: earliest(hold.until, now + STAYS_OPEN_MS) });
  } else result.tell(tell(watch(calm, chain, now), wasHeldBack(counted) ? 'still_open' : 'open', now));
}
