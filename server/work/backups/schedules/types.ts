import type { Selectable } from 'kysely';
import type { BackupSchedulesTable } from '../../../platform/storage/schema-backups.ts';

export type ScheduleRecord = Selectable<BackupSchedulesTable>;

/** A schedule, and when it runs next. */
export interface Schedule {
  record: ScheduleRecord;
  /** The earliest moment in any zone of its routers; null while it is switched off. */
  nextAt: number | null;
}

export interface ScheduleFields {
  /** Minutes after midnight, by the clocks of the router's site. */
  minutes: number;
  /** For routers whose site has no time zone. */
  timeZone: string;
  /** The exports of one run begin within so many minutes. */
  spreadMinutes: number;
  /** Stored backups of one router that are kept. */
  keep: number;
  enabled: boolean;
}

export interface NewSchedule extends ScheduleFields {
  teamId: string;
  /** Null: for routers of the team whose site has no schedule. */
  siteId: string | null;
}

export type ScheduleChange = { [K in keyof ScheduleFields]?: ScheduleFields[K] | undefined };
