import { NOT_TAKEN } from '../new-thread.ts';
import { REMIND_EVERY_MS } from '../timing.ts';
import type { Revision, ThreadRow } from '../types.ts';
import type { Moment, NextGroup } from './moment.ts';
import { silently, tell } from './told.ts';
import type { Told } from './told.ts';

/** What an open thread that was told needs although nothing has changed: reminders and escalation, until somebody takes it over. Pure. */

/** When somebody must look at it again; null: not by itself. @param toldAt when it was told last */
export function lookAt(thread: ThreadRow, toldAt: number): number | null {
  if (thread.acknowledged_at !== null) return thread.acknowledged_until;
  return earliest(thread.severity === 'critical' ? toldAt + REMIND_EVERY_MS : null, thread.escalate_at);
}

/** The thread was told: the next group has its turn after its time, unless somebody has taken it over. */
export function watch(thread: ThreadRow, chain: readonly NextGroup[], now: number): ThreadRow {
  const next = thread.acknowledged_at === null ? chain[thread.escalation_level] : undefined;
  const watched = { ...thread, escalate_at: next ? now + next.afterMs : null };
  return { ...watched, flush_at: lookAt(watched, now) };
}

/** The time for which somebody had taken it over has ended. */
function hasLapsed({ acknowledged_at: at, acknowledged_until: until }: ThreadRow, now: number): boolean {
  return at !== null && until !== null && until <= now;
}

export function isCareDue(thread: ThreadRow, now: number): boolean {
  const look = lookAt(thread, thread.told_at ?? now);
  return look !== null && look <= now;
}

/** @param thread an open one that was told */
export function care(thread: ThreadRow, moment: Moment): Told {
  const { now, hold, chain } = moment;
  if (hold?.reason === 'silenced') return silently({ ...thread, silenced_until: hold.until, flush_at: hold.until });
  const free = { ...thread, silenced_until: null };
  if (!isCareDue(free, now)) return silently({ ...free, flush_at: lookAt(free, free.told_at ?? now) });
  if (free.acknowledged_at === null && free.escalate_at !== null && free.escalate_at <= now) return escalate(free, moment);
  if (hold) return silently({ ...free, flush_at: earliest(hold.until ?? now + REMIND_EVERY_MS, free.escalate_at) });
  const again = hasLapsed(free, now) ? watch({ ...free, ...NOT_TAKEN }, chain, now) : { ...free, flush_at: null };
  return tell({ ...again, flush_at: lookAt(again, now) }, 'reminder', now);
}

/** Tells the next group that is not muted. The group's own mute does not count: its people may be off duty, which is why another one follows. */
function escalate(thread: ThreadRow, { now, chain }: Moment): Told {
  const revisions: Revision[] = [];
  let next = thread;
  let told: NextGroup | undefined;
  while (!told && next.escalation_level < chain.length) {
    const group = chain[next.escalation_level]!;
    next = { ...next, escalation_level: next.escalation_level + 1, updated_at: now };
    if (!group.isMuted) {
      told = group;
      const groups = [...new Set([...escalatedTo(next), group.id])];
      next = { ...next, revision: next.revision + 1, escalated_to: JSON.stringify(groups) };
    }
    revisions.push({ thread: next, kind: 'escalation', withheld: group.isMuted ? 'muted' : null, groups: [group.id] });
  }
  const after = chain[next.escalation_level];
  const watched = { ...next, escalate_at: after && told ? now + after.afterMs : null };
  return { thread: { ...watched, flush_at: lookAt(watched, watched.told_at ?? now) }, revisions };
}

/** What a thread that stood alone for others hands on to what is still open in it. */
export interface Inherited {
  /** Who was asked so far: they hear its end. */
  asked: Pick<ThreadRow, 'escalation_level' | 'escalated_to'>;
  /** For what nobody has taken over by itself. */
  care: Pick<ThreadRow, 'escalate_at' | 'acknowledged_at' | 'acknowledged_by' | 'acknowledged_by_kind' | 'acknowledged_until'>;
}

/** @param parent as it was while it was open */
export function inheritedFrom(parent: ThreadRow): Inherited {
  const { escalation_level, escalated_to, escalate_at, acknowledged_at, acknowledged_by, acknowledged_by_kind, acknowledged_until } =
    parent;
  return {
    asked: { escalation_level, escalated_to },
    care: { escalate_at, acknowledged_at, acknowledged_by, acknowledged_by_kind, acknowledged_until },
  };
}

/** Groups that were told because nobody acknowledged. */
export function escalatedTo({ escalated_to: groups }: Pick<ThreadRow, 'escalated_to'>): string[] {
  return JSON.parse(groups) as string[];
}

export function earliest(...times: readonly (number | null)[]): number | null {
  const given = times.filter((time) => time !== null);
  return given.length === 0 ? null : Math.min(...given);
}
