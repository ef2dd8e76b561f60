import { ROLES } from '../../../platform/core/principal.ts';
import type { Role } from '../../../platform/core/principal.ts';
import type { Grantor, KnownGrantor } from '../grantors/types.ts';

/** The stored state; the full state also depends on the time and on the inviter's role. */
export const STORED_STATES = ['open', 'accepted', 'declined', 'withdrawn'] as const;
export type StoredState = (typeof STORED_STATES)[number];

/** `void`: the inviter may no longer grant this role. */
export const INVITATION_STATES = [...STORED_STATES, 'expired', 'void'] as const;
export type InvitationState = (typeof INVITATION_STATES)[number];

/** The offer to join a team, open until the person accepts or declines. */
export interface Invitation {
  id: string;
  teamId: string;
  teamName: string;
  email: string;
  role: Role;
  inviter: KnownGrantor;
  stored: StoredState;
  createdAt: number;
  expiresAt: number;
}

export interface NewInvitation {
  teamId: string;
  email: string;
  role: Role;
  inviter: Grantor;
}

/** Proof that the holder of the code is the invited person. */
export type Proof =
  | {
      by: 'password';
      /** Current password of their account; empty without an account. */
      current: string;
      /** The new password. */
      next: string;
    }
  | {
      by: 'provider';
      /** Verified by the upstream identity provider. */
      email: string;
    };

/** The current state of an invitation. */
export function stateOf({ stored, expiresAt, role, inviter }: Invitation, now: number): InvitationState {
  if (stored !== 'open') return stored;
  if (expiresAt <= now) return 'expired';
  const mayGrant = inviter.role !== null && ROLES.indexOf(inviter.role) >= ROLES.indexOf(role);
  return mayGrant ? 'open' : 'void';
}
