import { ROLES } from '../../../platform/core/principal.ts';
import type { Member, MembershipLoss } from '../types.ts';

/** The loss that a change means for a member, if any. @param after null when they are no longer a member */
export function lossOf(before: Member, after: Member | null): MembershipLoss | undefined {
  const { teamId, userId } = before;
  if (!after) return { kind: 'removed', teamId, userId, role: null };
  if (before.active && !after.active) return { kind: 'switched_off', teamId, userId, role: null };
  const isLower = ROLES.indexOf(after.role) < ROLES.indexOf(before.role);
  return isLower ? { kind: 'role_lowered', teamId, userId, role: after.role } : undefined;
}
