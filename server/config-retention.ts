import { z } from 'zod';
import { wholeNumber } from './config-values.ts';

/** How long records are kept. docs/retention.md has every table of the database with what bounds it. */

const DAY_MS = 24 * 3600_000;
const LONGEST_DAYS = 3650;
/** A year and a month, for audits that take place once a year. */
const A_YEAR = 400;
/** An agent that was offline for a long weekend still reports results. */
const LEAST_JOB_DAYS = 7;
/** The agent status counts sessions of the last 24 hours. */
const LEAST_HISTORY_DAYS = 2;
/** Charts begin with the last 24 hours. */
const LEAST_STEP_DAYS = 2;
/** A forward is open for at most a day, and an agent that was away for so long is told that it has ended. */
const LEAST_FORWARD_DAYS = 2;

/** A backup waits 14 days for a router that is away. */
const LEAST_BACKUP_DAYS = 15;
/** A message waits a day for a digest, which waits for the end of quiet hours and is then tried for a day. */
const LEAST_NOTIFICATION_DAYS = 3;

const days = (usual: number, least = 1) => wholeNumber(usual, least, LONGEST_DAYS);

export const retentionSettings = {
  SIGNALBOX_JOB_RETENTION_DAYS: days(A_YEAR, LEAST_JOB_DAYS),
  SIGNALBOX_CAMPAIGN_RETENTION_DAYS: days(A_YEAR),
  SIGNALBOX_BACKUP_RETENTION_DAYS: days(180, LEAST_BACKUP_DAYS),
  SIGNALBOX_FORWARD_RETENTION_DAYS: days(A_YEAR, LEAST_FORWARD_DAYS),
  SIGNALBOX_CONNECTION_RETENTION_DAYS: days(30),
  SIGNALBOX_TERMINAL_RETENTION_DAYS: days(A_YEAR),
  SIGNALBOX_TERMINAL_RECORDING_RETENTION_DAYS: days(90),
  SIGNALBOX_FAULT_RETENTION_DAYS: days(A_YEAR),
  SIGNALBOX_AUDIT_RETENTION_DAYS: days(A_YEAR),
  SIGNALBOX_DEVICE_RETENTION_DAYS: days(182),
  SIGNALBOX_HISTORY_RETENTION_DAYS: days(A_YEAR, LEAST_HISTORY_DAYS),
  SIGNALBOX_FINE_STEPS_RETENTION_DAYS: days(30, LEAST_STEP_DAYS),
  SIGNALBOX_HOURLY_STEPS_RETENTION_DAYS: days(366, LEAST_STEP_DAYS),
  SIGNALBOX_WEBHOOK_RETENTION_DAYS: days(30),
  SIGNALBOX_NOTIFICATION_RETENTION_DAYS: days(30, LEAST_NOTIFICATION_DAYS),
};

const checked = z.object(retentionSettings);

/** Times are milliseconds after the end of a record. */
export interface RetentionConfig {
  /** How long a finished job is kept. */
  readonly keepJobsMs: number;
  readonly keepCampaignsMs: number;
  readonly keepBackupsMs: number;
  /** How long a closed forward is kept. */
  readonly keepForwardsMs: number;
  /** How long a finished connection of a forward is kept. */
  readonly keepConnectionsMs: number;
  /** How long the record of a terminal is kept. */
  readonly keepTerminalsMs: number;
  /** How long the recording of a terminal is kept. */
  readonly keepRecordingsMs: number;
  /** How long a resolved fault is kept. */
  readonly keepFaultsMs: number;
  readonly keepAuditMs: number;
  /** How long a device is kept after it was seen last. */
  readonly keepDevicesMs: number;
  /** How long ended router states and agent sessions are kept. */
  readonly keepHistoryMs: number;
  /** How long measurements are kept: by the quarter of an hour, and by the hour. */
  readonly keepSteps: { readonly fineMs: number; readonly hourlyMs: number };
  /** How long a job's updates for webhooks are kept after their delivery. */
  readonly keepDeliveriesMs: number;
  /** How long notices, threads and messages are kept. */
  readonly keepNotificationsMs: number;
}

export function retentionOf(settings: z.infer<typeof checked>): RetentionConfig {
  return {
    keepJobsMs: settings.SIGNALBOX_JOB_RETENTION_DAYS * DAY_MS,
    keepCampaignsMs: settings.SIGNALBOX_CAMPAIGN_RETENTION_DAYS * DAY_MS,
    keepBackupsMs: settings.SIGNALBOX_BACKUP_RETENTION_DAYS * DAY_MS,
    keepForwardsMs: settings.SIGNALBOX_FORWARD_RETENTION_DAYS * DAY_MS,
    keepConnectionsMs: settings.SIGNALBOX_CONNECTION_RETENTION_DAYS * DAY_MS,
    keepTerminalsMs: settings.SIGNALBOX_TERMINAL_RETENTION_DAYS * DAY_MS,
    keepRecordingsMs: settings.SIGNALBOX_TERMINAL_RECORDING_RETENTION_DAYS * DAY_MS,
    keepFaultsMs: settings.SIGNALBOX_FAULT_RETENTION_DAYS * DAY_MS,
    keepAuditMs: settings.SIGNALBOX_AUDIT_RETENTION_DAYS * DAY_MS,
    keepDevicesMs: settings.SIGNALBOX_DEVICE_RETENTION_DAYS * DAY_MS,
    keepHistoryMs: settings.SIGNALBOX_HISTORY_RETENTION_DAYS * DAY_MS,
    keepSteps: {
      fineMs: settings.SIGNALBOX_FINE_STEPS_RETENTION_DAYS * DAY_MS,
      hourlyMs: settings.SIGNALBOX_HOURLY_STEPS_RETENTION_DAYS * DAY_MS,
    },
    keepDeliveriesMs: settings.SIGNALBOX_WEBHOOK_RETENTION_DAYS * DAY_MS,
    keepNotificationsMs: settings.SIGNALBOX_NOTIFICATION_RETENTION_DAYS * DAY_MS,
  };
}
