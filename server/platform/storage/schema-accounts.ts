import type { Fixed, Millis } from './schema-columns.ts';

/** The tables of migration 19: invitations to teams and links for new passwords. */

/** The offer to join a team. */
export interface InvitationsTable {
  id: Fixed<string>;
  team_id: Fixed<string>;
  /** Address of the invited person, who may or may not have an account. */
  email: Fixed<string>;
  role: Fixed<string>;
  /** `user`, `api_key` or `operator`. */
  inviter_kind: Fixed<string>;
  /** Null for the operator. */
  inviter_id: Fixed<string | null>;
  /** SHA-256 of the code in the link. */
  code_hash: Fixed<string>;
  /** `open`, `accepted`, `declined` or `withdrawn`. */
  state: string;
  created_at: Fixed<Millis>;
  expires_at: Fixed<Millis>;
}

/** A link with which a person sets a new password; at most one per account. */
export interface PasswordLinksTable {
  user_id: Fixed<string>;
  /** The only team that the account may be in while the link is good. */
  team_id: string;
  issuer_kind: string;
  issuer_id: string | null;
  /** SHA-256 of the code in the link. */
  code_hash: string;
  created_at: Millis;
  expires_at: Millis;
}
