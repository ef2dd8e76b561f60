import type { Fixed, Millis } from './schema-columns.ts';

/** The tables of migration 19: how people come into teams and back into their accounts. */

/** The offer to join a team. */
export interface InvitationsTable {
  id: Fixed<string>;
  team_id: Fixed<string>;
  /** Of the person who is invited. Whether anybody has an account with it is not known here. */
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

/** With which a person sets a new password; one for each account at most. */
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
