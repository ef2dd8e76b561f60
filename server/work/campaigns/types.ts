import type { Selectable } from 'kysely';
import type { NewJob } from '../jobs/types.ts';
import type { CampaignsTable, CampaignTargetsTable } from '../../platform/storage/schema-campaigns.ts';

export type CampaignRecord = Selectable<CampaignsTable>;
export type TargetRecord = Selectable<CampaignTargetsTable>;

/**
 * - `finished`: every router has a result, good or bad.
 * - `stopped`: it stopped itself, see `stop_reason`; `canceled`: somebody stopped it. Both for good: jobs that wait are
 *   taken back, scripts that run are left alone.
 */
export const CAMPAIGN_STATES = ['running', 'paused', 'stopped', 'canceled', 'finished'] as const;
export type CampaignState = (typeof CAMPAIGN_STATES)[number];

export const STOP_REASONS = ['canary_failed', 'failures', 'failure_percentage'] as const;
export type StopReason = (typeof STOP_REASONS)[number];

/** What a target's row holds. Between `started` and the end its job says more. */
export type TargetState = 'waiting' | 'claimed' | 'started' | Outcome;

/** How a job ended, as its public status says. `deleted`: it was taken back and never ran. */
export const OUTCOMES = ['completed', 'failed', 'expired', 'unknown', 'deleted'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** What callers see of a target. `skipped`: the campaign ended before its turn. */
export const TARGET_STATUSES = ['waiting', 'pending', 'running', ...OUTCOMES, 'skipped'] as const;
export type TargetStatus = (typeof TARGET_STATUSES)[number];

export const CANARY_STATES = ['none', 'running', 'passed', 'failed'] as const;
export type CanaryState = (typeof CANARY_STATES)[number];

/** What a caller asks for; lengths and ranges have been checked at the edge. */
export interface NewCampaign extends NewJob {
  /** Undefined: not given, which is not the same as none. */
  routerIds: readonly string[] | undefined;
  siteIds: readonly string[] | undefined;
  deliverWithinMinutes: number;
  canaryCount: number;
  /** Jobs begun in any minute, at most; undefined: as fast as `mostAtOnce` lets. */
  ratePerMinute: number | undefined;
  mostAtOnce: number;
  abortAfterFailures: number | undefined;
  abortAtPercent: number | undefined;
}

/** Who asks, and under which key. */
export interface CampaignRequest {
  requestId: string;
  idempotencyKey: string;
  keyGiven: boolean;
  createdBy: string;
  /** The client through which that person asks. */
  createdVia?: string | undefined;
}

export type StatusCounts = Record<TargetStatus, number>;

/** What has happened to a campaign as a whole. */
export interface CampaignChange {
  /** `aborted`: it stopped itself; `completed`: every router has a result. */
  kind: 'started' | 'paused' | 'resumed' | 'canceled' | 'aborted' | 'completed';
  campaign: CampaignRecord;
}

/** A campaign with its progress at one moment. */
export interface CampaignView {
  campaign: CampaignRecord;
  counts: StatusCounts;
  canaries: CanaryState;
}

export interface TargetView {
  routerId: string;
  position: number;
  canary: boolean;
  status: TargetStatus;
  jobId: string | null;
  reason: string | null;
  startedAt: number | null;
  settledAt: number | null;
}

/** Routers whose jobs ended alike and said the same. */
export interface OutputGroup {
  status: Outcome;
  outputHash: string;
  count: number;
  /** Of the first router. */
  output: string | null;
  error: string | null;
  reason: string | null;
  /** The first few, in order. */
  routerIds: string[];
}
