const RANK = { viewer: 0, operator: 1, admin: 2 } as const;
export type Role = keyof typeof RANK;

export function hasRole(given: Role, least: Role): boolean {
  return RANK[given] >= RANK[least];
}
