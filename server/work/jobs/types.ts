import type { Selectable } from 'kysely';
import type { JobsTable } from '../../platform/storage/schema-jobs.ts';
import type { JobOffer } from '../../../protocol/index.ts';

/** A row of `jobs`. */
export type JobRecord = Selectable<JobsTable>;

/** What a caller asks for. The route has checked lengths and ranges. */
export interface NewJob {
  description: string;
  script: string;
  makeBackup: boolean;
  expressExecute: boolean;
  needsAcknowledgement: boolean;
  notifyUrl: string | undefined;
  /** Timeout of the script, in seconds. */
  timeoutSeconds: number | undefined;
  /** How long the job can wait for its router, in minutes. */
  deliverWithinMinutes: number | undefined;
  /** Undo guard: the router undoes the script after this many seconds unless the agent has proved reachability by then. */
  undoSeconds?: number | undefined;
}

/** The request that created the job, as the receipt and the job show it. */
export interface JobRequest {
  requestId: string;
  idempotencyKey: string;
  /** True when the caller chose the key: a repeated request then finds the earlier job. */
  keyGiven: boolean;
  /** The API key or the person that makes the request. */
  createdBy?: string | undefined;
  /** The client application that the person uses. */
  createdVia?: string | undefined;
}

/** The agent has armed the undo guard of a job, or removed it. */
export interface GuardChange {
  kind: 'armed' | 'disarmed';
  job: JobRecord;
}

/** The outcome of a DELETE. */
export type Cancellation =
  /** Canceled: it never ran and never will. Or a finished job that is now marked as deleted. */
  | { state: 'deleted'; job: JobRecord }
  /** The agent holds the job and has not answered yet. It is asked again at its next `ready`. */
  | { state: 'requested'; job: JobRecord };

/** A queued job and the agent and router it is for. */
export interface OfferableJob {
  agentId: string;
  routerId: string;
  offer: JobOffer;
}

/** A router with a queued job and none under way, so its next job can be offered. */
export interface WaitingRouter {
  routerId: string;
  agentId: string;
  /** Its name on that agent's tunnel. */
  agentEntry: string;
  /** At least one queued job is an express job. */
  express: boolean;
}

export interface JobRules {
  /** How long an agent can stay silent about a job beyond the script's timeout, in milliseconds. */
  graceMs: number;
  /** Added to the grace when a backup is taken first, in milliseconds. */
  backupMs: number;
  /** Default timeout of a script, in milliseconds. */
  defaultTimeoutMs: number;
  /** How long a job waits for its router by default, in milliseconds. */
  defaultDeliveryMs: number;
  /** How long a DELETE waits for the agent's answer, in milliseconds. */
  revokeWaitMs: number;
  /** How long a job is kept after its end, in milliseconds. */
  keepMs: number;
}

export const DEFAULT_JOB_RULES: JobRules = {
  // A restarted agent can report what happened only once its router is back: boards boot in 1 to 3 minutes.
  graceMs: 5 * 60_000,
  // The agent's own limit for a backup and an export.
  backupMs: 3 * 60_000,
  defaultTimeoutMs: 300_000,
  defaultDeliveryMs: 7 * 24 * 3600_000,
  revokeWaitMs: 3000,
  // Like the audit log: long enough for a yearly review.
  keepMs: 400 * 24 * 3600_000,
};

/** Limits of what a caller can ask for. */
export const JOB_LIMITS = {
  /** docs/interface.md, new job. */
  descriptionChars: 100,
  scriptChars: 2000,
  /** A script runs in the agent's session. Longer work belongs in a scheduler entry that the script creates. */
  timeoutSeconds: 24 * 3600,
  /** 30 days: an older change rarely still fits the router. */
  deliveryMinutes: 30 * 24 * 60,
  /** Less than 30 s leaves no time for a fresh connection over a slow line. An hour covers reboots and slow links. */
  undoSeconds: { least: 30, most: 3600 },
} as const;

/** How to end the jobs of a router that is removed or replaced. */
export interface RouterJobsEnd {
  teamId: string;
  routerId: string;
  now: number;
  /** The agent will report nothing more: the jobs it holds may have run. */
  agentRevoked: boolean;
  /** Keep the jobs that no agent has accepted. */
  keepQueued?: boolean;
  /** For the canceled jobs: a stable code, and a message for people. */
  reason: string;
  error: string;
}
