import { ROLES } from '../../../platform/core/principal.ts';
import type { Role } from '../../../platform/core/principal.ts';
import type { Grantor, KnownGrantor } from '../grantors/types.ts';

/** What is written down of an invitation; time and the inviter decide about the rest. */
export const STORED_STATES = ['open', 'accepted', 'declined', 'withdrawn'] as const;
export type StoredState = (typeof STORED_STATES)[number];

/** `void`: whoever invited may not grant this role any more. */
export const INVITATION_STATES = [...STORED_STATES, 'expired', 'void'] as const;
export type InvitationState = (typeof INVITATION_STATES)[number];

/** The offer to join a team, open until the person has said yes or no. */
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

/** How the person who holds the code proves that they are the one who is invited. */
export type Proof =
  | {
      by: 'password';
      /** Of the account that they have; empty for somebody who has none. */
      current: string;
      /** What they sign in with from now on. */
      next: string;
    }
  | {
      by: 'provider';
      /** Verified by the identity provider outside. */
      email: string;
    };

/** What an invitation comes to at this moment. */
export function stateOf({ stored, expiresAt, role, inviter }: Invitation, now: number): InvitationState {
  if (stored !== 'open') return stored;
  if (expiresAt <= now) return 'expired';
  const mayGrant = inviter.role !== null && ROLES.indexOf(inviter.role) >= ROLES.indexOf(role);
  return mayGrant ? 'open' : 'void';
}
