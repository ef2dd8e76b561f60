import { useFleet } from '../data/use-fleet.ts';
import { hasRole } from './roles.ts';
import type { Role } from './roles.ts';

/** Whether this person's role is at least that one. What a person may not do is not shown; the server refuses it anyway. */
export function useMay(role: Role): boolean {
  const { me } = useFleet();
  return hasRole(me.role, role);
}
