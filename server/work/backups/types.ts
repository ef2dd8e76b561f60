import type { Selectable } from 'kysely';
import type { BackupPart } from '../../../protocol/index.ts';
import type { ShareLimits } from '../../../runtime/fair-shares.ts';
import type { BackupsTable } from '../../platform/storage/schema-backups.ts';

/** A row of `backups`. */
export type BackupRecord = Selectable<BackupsTable>;

/** `binary` and `export` are from before the job, `export_after` is from after it. */
export const PARTS = ['binary', 'export', 'export_after'] as const satisfies readonly BackupPart[];

/** `pending`: still on the router. `lost`: it could not be fetched. */
export const BACKUP_STATES = ['pending', 'stored', 'lost'] as const;
export type BackupState = (typeof BACKUP_STATES)[number];

export interface PartRecord {
  backup_id: string;
  part: string;
  size: number;
  sha256: string;
}

/** A backup with what the control plane has of it. */
export interface Backup {
  record: BackupRecord;
  parts: PartRecord[];
}

/** A file as it is downloaded. */
export interface BackupFile {
  name: string;
  content: Buffer;
}

/** What differs between two exports. */
export interface BackupDiff {
  from: BackupRecord;
  to: BackupRecord;
  /** Unified; empty when nothing differs. */
  diff: string;
  /** The rest of a very long difference was left out. */
  truncated: boolean;
  /** True, but not the shortest: there are too many differences. */
  coarse: boolean;
}

export interface BackupRules {
  /** Backups kept of each router, newest first. */
  keepPerRouter: number;
  /** Bytes of files kept of one team; beyond it the oldest backups go. */
  keepBytesPerTeam: number;
  /** How long a backup is kept, milliseconds. */
  keepMs: number;
  /** Backups fetched at the same time, all together, of one team and from one agent: each may take some 30 MB on its way. */
  fetchAtOnce: ShareLimits;
  /** For one file over a slow line, milliseconds. */
  readMs: number;
  /** First pause after a failed attempt, doubled from one to the next, milliseconds. */
  retryMs: number;
  /** Attempts with the agent there, before what is missing is given up. */
  attempts: number;
  /** How long a router may stay away before its backup is given up: by then it has made room for newer ones. */
  fetchWithinMs: number;
}

export const DEFAULT_BACKUP_RULES: BackupRules = {
  keepPerRouter: 50,
  // 20,000 routers with two backups of 500 kB each. Stored they are compressed, and longer by a third for their encoding.
  keepBytesPerTeam: 20 * 1024 ** 3,
  keepMs: 180 * 24 * 3600_000,
  // A team alone gets 4; the other 4 are for teams that come meanwhile, so that some 240 MB are needed only for several.
  fetchAtOnce: { total: 8, perParty: 4, perMember: 2 },
  readMs: 180_000,
  retryMs: 30_000,
  attempts: 8,
  fetchWithinMs: 14 * 24 * 3600_000,
};

/**
 * How a job ends whose script may have run, so that its backup lies on the router although BEGIN was never heard: the
 * tunnel was down from the backup to the end. A script error counts when there is output; without, it was its syntax.
 */
export const RAN_UNHEARD = ['rolled_back', 'timed_out', 'interrupted', 'router_rebooted'] as const;
