import type { Generated } from 'kysely';
import type { Fixed, Flag, Millis } from './schema-columns.ts';

/** Backups of routers, taken before and after jobs, or without one. */

export interface BackupsTable {
  id: Fixed<string>;
  team_id: Fixed<string>;
  router_id: Fixed<string>;
  /** One per job; null: taken without a job. */
  job_id: Fixed<string | null>;
  /** `job`, `request` or `schedule`. */
  origin: Generated<string>;
  /** Which schedule it was taken for; null also when that was deleted. */
  schedule_id: Generated<string | null>;
  /** Whether its export differs from the one before; null while it is not compared. */
  changed: Generated<Flag | null>;
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

export interface BackupSchedulesTable {
  id: Fixed<string>;
  team_id: Fixed<string>;
  /** Null: for all routers of the team whose site has none. */
  site_id: Fixed<string | null>;
  /** After midnight, by the clocks of the router's site. */
  minutes: number;
  /** For routers whose site has none. */
  time_zone: string;
  spread_minutes: number;
  /** Stored backups of each router. */
  keep: number;
  enabled: Flag;
  /** Earlier times of day are not made up for. */
  counts_from: Millis;
  /** When it last ran, by time zone, as JSON. */
  runs: string;
  created_at: Fixed<Millis>;
  updated_at: Millis;
}
