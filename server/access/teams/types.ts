import type { Role } from '../../platform/core/principal.ts';

/** The tenant. Every record belongs to one. */
export interface Team {
  id: string;
  name: string;
  createdAt: number;
}

/** A person and their role in one team. The same person may be a member of several teams. */
export interface Member {
  userId: string;
  teamId: string;
  email: string;
  role: Role;
  active: boolean;
  createdAt: number;
}

export interface NewUser {
  teamId: string;
  email: string;
  role: Role;
  /** Generated when missing. */
  password?: string | undefined;
  /** For a new account only: of another one, somebody else may know the password. */
  isInstallationAdmin?: boolean | undefined;
}

/** The first person of a control plane, with their team. */
export interface FirstUser {
  teamName: string;
  email: string;
  password: string;
  /** Gives the team what every new one has, before it has anybody. May come again for the same team. */
  prepareTeam: (teamId: string) => Promise<void>;
}

export interface MemberChange {
  role?: Role | undefined;
  active?: boolean | undefined;
}

/** Path of invitation links; the code follows. */
export const INVITATION_PATH = '/invitation';
/** Path of password links; the code follows. */
export const PASSWORD_PATH = '/set-password';

/** Path of the link to the page that makes the first account; the code follows. */
export const SETUP_PATH = '/setup';

/** @param baseUrl the public URL, without a slash at the end */
export function linkTo(path: typeof INVITATION_PATH | typeof PASSWORD_PATH | typeof SETUP_PATH, baseUrl: string, code: string): string {
  return `${baseUrl}${path}/${code}`;
}

/** A member lost rights in a team. Published after the commit. */
export interface MembershipLoss {
  kind: 'removed' | 'switched_off' | 'role_lowered';
  teamId: string;
  userId: string;
  /** The role that is left; null when none is. */
  role: Role | null;
}

/** A person has joined a team, has another role there or was switched on or off, or is no longer in it. Published after the commit. */
export interface MembershipChange {
  kind: 'joined' | 'updated' | 'removed';
  member: Member;
}

/** Result of a password check. User and memberships are for the log, even when the password was wrong. */
export interface PasswordCheck {
  matches: boolean;
  /** Null for an unknown address. */
  userId: string | null;
  /** Active memberships only. */
  memberships: Member[];
}

/** Whoever sends a password to be checked or set. */
export interface PasswordCaller {
  /** Network of the client (`networkOf`). */
  network: string;
  account: string;
  /** The account has signed in from this browser before, or the person is signed in. */
  isKnown: boolean;
}
