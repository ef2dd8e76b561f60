import { invalidField } from '../../../../platform/core/errors.ts';
import type { Escalation, GroupChange } from '../types.ts';

/** Groups that follow each other, with the first one. */
export const MAX_CHAIN = 5;

/**
 * The group's escalation after the change. Pure.
 * @param all of the team, before the change
 * @throws AppError `invalid` for half of an escalation, a loop, or too long a chain
 */
export function nextEscalation(
  groupId: string,
  { escalateTo, escalateAfterMinutes }: GroupChange,
  all: ReadonlyMap<string, Escalation>,
): Escalation | null {
  const before = all.get(groupId);
  const to = escalateTo === undefined ? (before?.to ?? null) : escalateTo;
  const afterMinutes = escalateAfterMinutes === undefined ? (before?.afterMinutes ?? null) : escalateAfterMinutes;
  // Each of the two fields ends it when it alone is set to null.
  if (escalateTo === null || escalateAfterMinutes === null) {
    if (escalateTo) throw invalidField('escalate_after_minutes', 'is missing, although escalate_to is given');
    if (escalateAfterMinutes) throw invalidField('escalate_to', 'is missing, although escalate_after_minutes is given');
    return null;
  }
  if (to === null) throw invalidField('escalate_to', 'is missing, although escalate_after_minutes is given');
  if (afterMinutes === null) throw invalidField('escalate_after_minutes', 'is missing, although escalate_to is given');
  const next = { afterMinutes, to };
  refuseUnfit(groupId, new Map([...all, [groupId, next]]));
  return next;
}

function refuseUnfit(groupId: string, all: ReadonlyMap<string, Escalation>): void {
  const behind = chainFrom(groupId, all);
  if (behind === undefined) throw invalidField('escalate_to', 'leads back to this group');
  const longest = behind + longestTo(groupId, all);
  if (longest > MAX_CHAIN)
    throw invalidField('escalate_to', `makes a chain of ${longest} groups; at most ${MAX_CHAIN} may follow each other`);
}

/** Groups from this one to the end of its chain, this one included. Undefined for a loop. */
function chainFrom(groupId: string, all: ReadonlyMap<string, Escalation>): number | undefined {
  const seen = new Set<string>();
  for (let at: string | undefined = groupId; at !== undefined; at = all.get(at)?.to) {
    if (seen.has(at)) return undefined;
    seen.add(at);
  }
  return seen.size;
}

/** Groups on the longest way that leads to this one, without it. There is no loop. */
function longestTo(groupId: string, all: ReadonlyMap<string, Escalation>): number {
  const before = [...all].filter(([, { to }]) => to === groupId).map(([id]) => id);
  return Math.max(0, ...before.map((id) => 1 + longestTo(id, all)));
}
