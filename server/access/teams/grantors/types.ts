import type { Role } from '../../../platform/core/principal.ts';

/** The creator of an invitation or a password link. */
export interface Grantor {
  /** `operator`: a person with access to the command line on the server itself. */
  kind: 'user' | 'api_key' | 'operator';
  /** Null for the operator. */
  id: string | null;
}

export const OPERATOR: Grantor = { kind: 'operator', id: null };

/** A grantor with their current name and role. */
export interface KnownGrantor extends Grantor {
  /** Email address of the user or name of the key; null when it no longer exists. */
  name: string | null;
  /** Null for a grantor without a role in the team. */
  role: Role | null;
}
