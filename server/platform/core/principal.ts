/** What a team's member or key may do. Each role includes the ones before it. */
export const ROLES = ['viewer', 'operator', 'admin'] as const;
export type Role = (typeof ROLES)[number];

/** The authenticated caller. Every store query takes its `teamId`. */
export interface Principal {
  kind: 'api_key' | 'user';
  /** Id of the key or the user, for the audit log and the rate limit. */
  id: string;
  teamId: string;
  role: Role;
  /** The team's client that acts for the user; absent when the user acts in the first-party application. */
  clientId?: string;
  /** Present for an administrator of the installation in the first-party application: never for a key, nor for a client. */
  isInstallationAdmin?: true;
  /** When the user signed in, milliseconds; absent for a key, and in tokens of an earlier version. */
  signedInAt?: number;
}

export function hasRole(principal: Principal, needed: Role): boolean {
  return ROLES.indexOf(principal.role) >= ROLES.indexOf(needed);
}

/** Whether a rechecked credential still belongs to the same caller in the same team; the role may have changed. */
export function isSameCaller(now: Principal | null | undefined, then: Principal | null | undefined): now is Principal {
  return !!now && !!then && now.kind === then.kind && now.id === then.id && now.teamId === then.teamId;
}

/** Whether a caller's open connection may stay open: same caller, and the role is still sufficient. */
export function isStillAllowed(now: Principal | undefined, then: Principal, needed: Role): boolean {
  return isSameCaller(now, then) && hasRole(now, needed);
}

/** Reads a stored role. An unknown role, written by a newer version, becomes the lowest one. */
export function readRole(text: string): Role {
  return ROLES.find((role) => role === text) ?? 'viewer';
}
