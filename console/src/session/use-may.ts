import { useFleet } from '../data/use-fleet.ts';

const RANK = { viewer: 0, operator: 1, admin: 2 } as const;
export type Role = keyof typeof RANK;

export function hasRole(given: Role, least: Role): boolean {
  return RANK[given] >= RANK[least];
}

/** Whether this person's role is at least that one. What a person may not do is not shown; the server refuses it anyway. */
export function useMay(role: Role): boolean {
  const { me } = useFleet();
  return hasRole(me.role, role);
}
