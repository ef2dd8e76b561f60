import type { Generated } from 'kysely';
import type { Fixed, Millis } from './schema-columns.ts';

/** Backups of routers, taken before and after jobs, or without one. */

export interface BackupsTable {
  id: Fixed<string>;
  team_id: Fixed<string>;
  router_id: Fixed<string>;
  /** One per job; null: taken without a job. */
  job_id: Fixed<string | null>;
  /** `job` or `request`. */
  origin: Generated<string>;
  /** Parts that were asked for, as JSON; null: those of a job. */
  wanted: Fixed<string | null>;
  state: string;
  /** Attempts to fetch it from the router. */
  attempts: number;
  /** Time of the next attempt; null when nothing more is to be fetched. */
  due_at: Millis | null;
  /** Why parts are missing. */
  error: string | null;
  created_at: Fixed<Millis>;
  stored_at: Millis | null;
}

export interface BackupPartsTable {
  backup_id: Fixed<string>;
  part: Fixed<string>;
  team_id: Fixed<string>;
  /** Of the file, bytes. */
  size: Fixed<number>;
  /** Of the file, hex. */
  sha256: Fixed<string>;
  /** Encrypted (secrets.ts): backups hold passwords and keys. */
  content: Fixed<string>;
  stored_at: Fixed<Millis>;
}
