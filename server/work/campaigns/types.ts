import type { Selectable } from 'kysely';
import type { NewJob } from '../jobs/types.ts';
import type { CampaignsTable } from '../../platform/storage/schema-campaigns.ts';

export type CampaignRecord = Selectable<CampaignsTable>;

/**
 * - `finished`: every router has a result, good or bad.
 * - `stopped`: it stopped itself, see `stop_reason`; `canceled`: a caller ended it. Both are final: waiting jobs are canceled, running
 *   scripts continue.
 */
export const CAMPAIGN_STATES = ['running', 'paused', 'stopped', 'canceled', 'finished'] as const;
export type CampaignState = (typeof CAMPAIGN_STATES)[number];

export const STOP_REASONS = ['canary_failed', 'failures', 'failure_percentage'] as const;
export type StopReason = (typeof STOP_REASONS)[number];

/** A target's stored status. Between `started` and the result, its job has the details. */
export type TargetState = 'waiting' | 'claimed' | 'started' | Outcome;

/** How a job ended, as its public status. `deleted`: it was canceled and never ran. */
export const OUTCOMES = ['completed', 'failed', 'expired', 'unknown', 'deleted'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** A target's status for callers. `skipped`: the campaign ended before the router got a job. */
export const TARGET_STATUSES = ['waiting', 'pending', 'running', ...OUTCOMES, 'skipped'] as const;
export type TargetStatus = (typeof TARGET_STATUSES)[number];

export const CANARY_STATES = ['none', 'running', 'passed', 'failed'] as const;
export type CanaryState = (typeof CANARY_STATES)[number];

/** The caller's request; the route has checked lengths and ranges. */
export interface NewCampaign extends NewJob {
  /** Undefined: the field is missing, which is not the same as an empty list. */
  routerIds: readonly string[] | undefined;
  siteIds: readonly string[] | undefined;
  deliverWithinMinutes: number;
  canaryCount: number;
  /** Most jobs that start within any minute; undefined: as fast as `mostAtOnce` allows. */
  ratePerMinute: number | undefined;
  mostAtOnce: number;
  abortAfterFailures: number | undefined;
  abortAtPercent: number | undefined;
}

/** The caller, and the key of the request. */
export interface CampaignRequest {
  requestId: string;
  idempotencyKey: string;
  keyGiven: boolean;
  createdBy: string;
  /** The client application that the person uses. */
  createdVia?: string | undefined;
}

export type StatusCounts = Record<TargetStatus, number>;

/** A change of a campaign's state. */
export interface CampaignChange {
  /** `aborted`: it stopped itself; `completed`: every router has a result. */
  kind: 'started' | 'paused' | 'resumed' | 'canceled' | 'aborted' | 'completed';
  campaign: CampaignRecord;
}

/** A campaign with its progress at one time. */
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

/** Routers whose jobs ended with the same result and output. */
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
