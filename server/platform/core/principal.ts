/** What a team's member or key may do. Each role includes the ones before it. */
export const ROLES = ['viewer', 'operator', 'admin'] as const;
export type Role = (typeof ROLES)[number];

/** Who is asking, once the credential has been checked. Every store query takes its `teamId`. */
export interface Principal {
  kind: 'api_key' | 'user';
  /** Id of the key or the user: what the audit log and the rate limit count by. */
  id: string;
  teamId: string;
  role: Role;
  /** The team's own program that acts for the user; left out when the user acts in the first-party application. */
  clientId?: string;
}

export function hasRole(principal: Principal, needed: Role): boolean {
  return ROLES.indexOf(principal.role) >= ROLES.indexOf(needed);
}

/** Reads a stored role. One that this program does not know (a newer one wrote it) gives the least. */
export function readRole(text: string): Role {
  return ROLES.find((role) => role === text) ?? 'viewer';
}
