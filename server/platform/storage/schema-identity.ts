import type { Fixed, Millis } from './schema-columns.ts';

/** The tables of migration 9: what the built-in OpenID provider keeps. */

/** Keys with which the provider signs tokens and cookies. They belong to the server, not to a team. */
export interface ProviderKeysTable {
  id: Fixed<string>;
  kind: Fixed<string>;
  /** Encrypted (secrets.ts). */
  secret: Fixed<string>;
  created_at: Fixed<Millis>;
  /** From when on it signs; before, it is only published. */
  active_at: Fixed<Millis>;
}

/** A program that a team lets act for its members. */
export interface ClientsTable {
  id: Fixed<string>;
  team_id: Fixed<string>;
  name: string;
  kind: Fixed<string>;
  /** The highest role of its sessions. */
  role: string;
  /** JSON: a list of addresses. */
  redirect_uris: string;
  post_logout_redirect_uris: string;
  /** Null for clients that can keep none. */
  secret_hash: string | null;
  created_by: Fixed<string | null>;
  created_at: Fixed<Millis>;
}

/** A session, code, refresh token, grant or sign-in under way. */
export interface ProviderRecordsTable {
  model: Fixed<string>;
  /** SHA-256 of the value that its holder presents. */
  id: Fixed<string>;
  /** JSON, encrypted (secrets.ts). */
  payload: string;
  grant_id: string | null;
  uid: string | null;
  account_id: string | null;
  client_id: string | null;
  expires_at: Millis;
  consumed_at: Millis | null;
}

/** Attempts to sign in, on PostgreSQL, where several control planes count them together. */
export interface SignInAttemptsTable {
  /** A keyed hash of who tries, and for which account. */
  key: Fixed<string>;
  /** When the counter has become empty, by the clock of the database. */
  empty_at: Millis;
}
