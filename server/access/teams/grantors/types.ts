import type { Role } from '../../../platform/core/principal.ts';

/** Who lets somebody in, or gives somebody a new way in. */
export interface Grantor {
  /** The operator works on the server's own machine. */
  kind: 'user' | 'api_key' | 'operator';
  /** Null for the operator. */
  id: string | null;
}

export const OPERATOR: Grantor = { kind: 'operator', id: null };

/** A grantor as they are at this moment. */
export interface KnownGrantor extends Grantor {
  /** Address of the user or name of the key; null when there is none any more. */
  name: string | null;
  /** Null for one who may do nothing in the team any more. */
  role: Role | null;
}
