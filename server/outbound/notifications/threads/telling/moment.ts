import { isMuted } from '../../groups/mute.ts';
import type { Escalation } from '../../groups/types.ts';
import { nextChange } from '../../schedules/next-change.ts';
import type { Listener } from '../match.ts';
import type { ThreadRow } from '../types.ts';

/** What decides besides the threads themselves. Pure. */

/** Nothing is told now but ends. */
export interface Hold {
  reason: 'muted' | 'silenced';
  /** When it is over; null: not by itself. */
  until: number | null;
}

/** A mute of the group counts first: nobody can say when it ends. @param silencedUntil end of the silence that covers the thread */
export function holdOf(mute: Hold | null, silencedUntil: number | undefined): Hold | null {
  return mute ?? (silencedUntil === undefined ? null : { reason: 'silenced', until: silencedUntil });
}

/** What a silence has to cover for a thread to be silent. */
export function factOf(thread: Pick<ThreadRow, 'id' | 'key' | 'router_id' | 'site_id' | 'agent_id'>) {
  const { id, key, router_id: routerId, site_id: siteId, agent_id: agentId } = thread;
  return { id, routerId, siteId, agentId: key.startsWith('agent:') ? agentId : null };
}

/** A group that is told when nobody acknowledges. */
export interface NextGroup {
  id: string;
  /** After the group before it was told. */
  afterMs: number;
  /** It is passed over then. */
  isMuted: boolean;
}

export interface Moment {
  now: number;
  hold: Hold | null;
  /** In their order. */
  chain: readonly NextGroup[];
}

type Speaks = Pick<Listener, 'mute' | 'schedule'>;

export function momentOf(listener: Speaks | undefined, now: number, chain: readonly NextGroup[] = []): Moment {
  return { now, hold: listener ? muteOf(listener, now) : null, chain };
}

/** Null while the group speaks. */
export function muteOf({ mute, schedule }: Speaks, now: number): Hold | null {
  if (!isMuted(mute, schedule, now)) return null;
  const bySchedule = schedule !== null && (mute === 'schedule-active' || mute === 'schedule-inactive');
  return { reason: 'muted', until: bySchedule ? nextChange(schedule, now) : null };
}

/** The groups that follow this one. Loops are refused when a group is stored. */
export function chainOf(
  groupId: string,
  escalations: ReadonlyMap<string, Escalation>,
  listeners: ReadonlyMap<string, Speaks>,
  now: number,
): NextGroup[] {
  const chain: NextGroup[] = [];
  const seen = new Set([groupId]);
  for (let next = escalations.get(groupId); next && !seen.has(next.to); next = escalations.get(next.to)) {
    const listener = listeners.get(next.to);
    seen.add(next.to);
    chain.push({ id: next.to, afterMs: next.afterMinutes * 60_000, isMuted: listener !== undefined && muteOf(listener, now) !== null });
  }
  return chain;
}
