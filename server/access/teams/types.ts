import type { Role } from '../../platform/core/principal.ts';

/** The tenant. Every record belongs to one. */
export interface Team {
  id: string;
  name: string;
  createdAt: number;
}

/** A person, and what they may do in one team. The same person may be a member of several. */
export interface Member {
  userId: string;
  teamId: string;
  email: string;
  role: Role;
  active: boolean;
  createdAt: number;
}

/** A place where routers stand. */
export interface Site {
  id: string;
  teamId: string;
  name: string;
  /** IANA name. */
  timeZone: string | null;
  /** Degrees. */
  latitude: number | null;
  longitude: number | null;
  createdAt: number;
}

export interface NewSite {
  teamId: string;
  name: string;
  timeZone?: string | null | undefined;
  latitude?: number | null | undefined;
  longitude?: number | null | undefined;
}

export interface NewUser {
  teamId: string;
  email: string;
  role: Role;
  /** Generated when missing. */
  password?: string | undefined;
}

/** What is missing stays as it is, null is forgotten. */
export interface SiteChange {
  name?: string | undefined;
  timeZone?: string | null | undefined;
  latitude?: number | null | undefined;
  longitude?: number | null | undefined;
}

export interface MemberChange {
  role?: Role | undefined;
  active?: boolean | undefined;
}

/** Where people answer an invitation; the code follows. */
export const INVITATION_PATH = '/invitation';
/** Where people set a new password; the code follows. */
export const PASSWORD_PATH = '/set-password';

/** @param baseUrl the public URL, without a slash at the end */
export function linkTo(path: typeof INVITATION_PATH | typeof PASSWORD_PATH, baseUrl: string, code: string): string {
  return `${baseUrl}${path}/${code}`;
}

/** Somebody may do less in a team from now on. Told after the commit. */
export interface MembershipLoss {
  kind: 'removed' | 'switched_off' | 'role_lowered';
  teamId: string;
  userId: string;
  /** The role that is left; null when none is. */
  role: Role | null;
}

/** What a sign-in came to; the rest is known for the log even when the password was wrong. */
export interface PasswordCheck {
  matches: boolean;
  /** Null for an address that nobody has. */
  userId: string | null;
  /** Active ones only. */
  memberships: Member[];
}
