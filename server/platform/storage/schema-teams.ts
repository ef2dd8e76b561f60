import type { Generated } from 'kysely';
import type { Fixed, Flag, Millis } from './schema-columns.ts';

/** Teams, the people and programs that act in them, and their sites. */

export interface TeamsTable {
  id: Fixed<string>;
  name: string;
  created_at: Fixed<Millis>;
}

export interface UsersTable {
  id: Fixed<string>;
  email: string;
  password_hash: string | null;
  created_at: Fixed<Millis>;
  /** Sessions that began before are over. */
  sessions_since: Generated<Millis>;
  /** An administrator was shown this password, before there were links. Cleared by the next one. */
  password_shared: Generated<Flag>;
  /** Administers the installation. Only the command line on the server gives and takes it. */
  installation_admin: Generated<Flag>;
  /** When it became known that the person reads the address; null before. */
  email_verified_at: Generated<Millis | null>;
  /** Why no notification is sent to the address. */
  email_off_reason: Generated<string | null>;
  email_off_at: Generated<Millis | null>;
  /** Language and time zone of notifications; null: the defaults. */
  locale: Generated<string | null>;
  time_zone: Generated<string | null>;
  /** Quiet hours, minutes since midnight in the person's time zone; both or neither. */
  quiet_from: Generated<number | null>;
  quiet_to: Generated<number | null>;
  /** Critical notifications come in quiet hours, too. */
  quiet_critical: Generated<Flag>;
  /** How the person is told as a recipient; null: by email. */
  default_channel: Generated<string | null>;
  /** `hourly` or `daily`: how often the person gets in one message what can wait; null: never, everything comes at once. */
  digest: Generated<string | null>;
  /** Of a daily one: minutes since midnight in the person's time zone. */
  digest_at: Generated<number>;
  /** JSON array: kinds that can wait, besides what is of the severity info. */
  digest_kinds: Generated<string>;
}

export interface MembersTable {
  team_id: Fixed<string>;
  user_id: Fixed<string>;
  role: string;
  active: Flag;
  created_at: Fixed<Millis>;
  /** Sessions that began before are over in this team; of those in other teams it says nothing. */
  sessions_since: Generated<Millis>;
}

export interface ApiKeysTable {
  id: Fixed<string>;
  team_id: Fixed<string>;
  name: string;
  secret_hash: string;
  role: string;
  created_by: Fixed<string | null>;
  created_at: Fixed<Millis>;
  last_used_at: Millis | null;
  expires_at: Millis | null;
  revoked_at: Millis | null;
  /** The key it was rotated to. */
  replaced_by: string | null;
}

export interface ServiceTokensTable {
  id: Fixed<string>;
  name: string;
  secret_hash: string;
  created_at: Fixed<Millis>;
  revoked_at: Millis | null;
}

export interface SitesTable {
  id: Fixed<string>;
  team_id: Fixed<string>;
  name: string;
  time_zone: string | null;
  latitude: number | null;
  longitude: number | null;
  created_at: Fixed<Millis>;
}
