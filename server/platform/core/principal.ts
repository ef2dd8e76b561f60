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

/** Whether a credential that was checked again is still that of the same caller in the same team, whose role may have changed. */
export function isSameCaller(now: Principal | null | undefined, then: Principal | null | undefined): now is Principal {
  return !!now && !!then && now.kind === then.kind && now.id === then.id && now.teamId === then.teamId;
}

/** Whether what a caller opened may stay open: the credential is still theirs, and the role still enough for it. */
export function isStillAllowed(now: Principal | undefined, then: Principal, needed: Role): boolean {
  return isSameCaller(now, then) && hasRole(now, needed);
}

/** Reads a stored role. One that this program does not know (a newer one wrote it) gives the least. */
export function readRole(text: string): Role {
  return ROLES.find((role) => role === text) ?? 'viewer';
}
