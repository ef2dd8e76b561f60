import type { Selectable } from 'kysely';
import type { BackupPart } from '../../../protocol/index.ts';
import type { ShareLimits } from '../../../runtime/fair-shares.ts';
import type { BackupsTable } from '../../platform/storage/schema-backups.ts';

/** A row of `backups`. */
export type BackupRecord = Selectable<BackupsTable>;

/** `binary` and `export` are from before the job, `export_after` is from after it. */
export const PARTS = ['binary', 'export', 'export_after'] as const satisfies readonly BackupPart[];

/** What can be taken without a job, in this order: an export needs no room on the router. */
export const TAKEN_PARTS = ['export', 'binary'] as const satisfies readonly BackupPart[];
export type TakenPart = (typeof TAKEN_PARTS)[number];

/** Why a backup was taken. */
export const BACKUP_ORIGINS = ['job', 'request', 'schedule'] as const;
export type BackupOrigin = (typeof BACKUP_ORIGINS)[number];

/** `pending`: still on the router. `lost`: it could not be fetched. */
export const BACKUP_STATES = ['pending', 'stored', 'lost'] as const;
export type BackupState = (typeof BACKUP_STATES)[number];

/** The control plane has a backup now. */
export interface BackupChange {
  kind: 'stored';
  backup: BackupRecord;
}

/** A text export that is stored. */
export interface ExportOf {
  record: BackupRecord;
  part: 'export' | 'export_after';
}

/** The configuration of a router has changed since its last export. */
export interface ConfigChange {
  from: BackupRecord;
  to: BackupRecord;
  /** Undefined when there are too many to be counted. */
  lines: { added: number; removed: number } | undefined;
}

export interface PartRecord {
  backup_id: string;
  part: string;
  size: number;
  sha256: string;
}

/** A backup with the parts that the control plane has. */
export interface Backup {
  record: BackupRecord;
  parts: PartRecord[];
}

/** A file for download. */
export interface BackupFile {
  name: string;
  content: Buffer;
}

/** The difference between two exports. */
export interface BackupDiff {
  from: BackupRecord;
  to: BackupRecord;
  /** Unified diff; empty when nothing differs. */
  diff: string;
  /** The diff was too long and is cut off. */
  truncated: boolean;
  /** Correct, but not the shortest diff: there are too many differences. */
  coarse: boolean;
}

export interface BackupRules {
  /** Backups kept of each router, newest first. */
  keepPerRouter: number;
  /** Bytes of files kept for one team; beyond that the oldest backups are deleted. */
  keepBytesPerTeam: number;
  /** How long a backup is kept, milliseconds. */
  keepMs: number;
  /** Backups fetched at the same time: in total, per team and per agent. Each may take 30 MB of memory. */
  fetchAtOnce: ShareLimits;
  /** Time limit for one file over a slow line, milliseconds. */
  readMs: number;
  /** First pause after a failed attempt, milliseconds. Each further pause doubles. */
  retryMs: number;
  /** Attempts while the agent is connected, before the missing parts count as lost. */
  attempts: number;
  /** How long a router may be away before its backup counts as lost: by then it has removed the files for newer ones. */
  fetchWithinMs: number;
}

export const DEFAULT_BACKUP_RULES: BackupRules = {
  keepPerRouter: 50,
  // 20,000 routers with two backups of 500 kB each. Stored files are compressed, but base64 adds a third.
  keepBytesPerTeam: 20 * 1024 ** 3,
  keepMs: 180 * 24 * 3600_000,
  // A single team gets 4; the other 4 are for teams that come meanwhile. So 240 MB are needed only for several teams.
  fetchAtOnce: { total: 8, perParty: 4, perMember: 2 },
  readMs: 180_000,
  retryMs: 30_000,
  attempts: 8,
  fetchWithinMs: 14 * 24 * 3600_000,
};

/**
 * Results of jobs whose script may have run: the backup is then on the router, even if BEGIN was never reported because the tunnel was down
 * from the backup to the end. A script error counts only with output; without output it was a syntax error.
 */
export const RAN_WITHOUT_BEGIN = ['rolled_back', 'timed_out', 'interrupted', 'router_rebooted'] as const;
