import type { Selectable } from 'kysely';
import type { JobsTable } from '../../platform/storage/schema-jobs.ts';
import type { JobOffer } from '../../../protocol/index.ts';

/** A row of `jobs`. */
export type JobRecord = Selectable<JobsTable>;

/** What a caller asks for; lengths and ranges have been checked at the edge. */
export interface NewJob {
  description: string;
  script: string;
  makeBackup: boolean;
  expressExecute: boolean;
  needsAcknowledgement: boolean;
  notifyUrl: string | undefined;
  /** Longest run of the script, in seconds. */
  timeoutSeconds: number | undefined;
  /** How long the job may wait for its router, in minutes. */
  deliverWithinMinutes: number | undefined;
  /** Undo guard: the router undoes the script after so many seconds unless everything is found reachable before. */
  undoSeconds?: number | undefined;
}

/** Which request asked: shown on the receipt and the job. */
export interface JobRequest {
  requestId: string;
  idempotencyKey: string;
  /** True when the caller chose the key: its earlier job is then found again. */
  keyGiven: boolean;
  /** The key or person that asks. */
  createdBy?: string | undefined;
  /** The client through which that person asks. */
  createdVia?: string | undefined;
}

/** What became of a DELETE. */
export type Cancellation =
  /** Taken back: it never ran and never will. Or a finished job, now marked as deleted. */
  | { state: 'deleted'; job: JobRecord }
  /** The agent holds it and has not answered yet: it is asked again at its next check-in. */
  | { state: 'requested'; job: JobRecord };

/** A queued job together with the way to its router. */
export interface OfferableJob {
  agentId: string;
  routerId: string;
  offer: JobOffer;
}

/** A router with work waiting and nothing under way, so that its next job may be offered. */
export interface WaitingRouter {
  routerId: string;
  agentId: string;
  /** Its name on that agent's tunnel. */
  agentRouter: string;
  /** An express job is among those that wait. */
  express: boolean;
}

export interface JobRules {
  /** How long an agent may stay silent about a job beyond the script's own timeout, in milliseconds. */
  graceMs: number;
  /** Added to the grace when a backup is taken first. */
  backupMs: number;
  /** Timeout of a script when the caller names none, in milliseconds. */
  defaultTimeoutMs: number;
  /** How long a job waits for its router when the caller names nothing, in milliseconds. */
  defaultDeliveryMs: number;
  /** How long a DELETE waits for the agent's answer, in milliseconds. */
  revokeWaitMs: number;
  /** How long a job is kept after its end, in milliseconds. */
  keepMs: number;
}

export const DEFAULT_JOB_RULES: JobRules = {
  // An agent that was restarted needs its router back before it can say what happened: boards boot in 1 to 3 minutes.
  graceMs: 5 * 60_000,
  // The agent's own limit for a backup and an export.
  backupMs: 3 * 60_000,
  defaultTimeoutMs: 300_000,
  defaultDeliveryMs: 7 * 24 * 3600_000,
  revokeWaitMs: 3000,
  // As the audit log: long enough for a year's review.
  keepMs: 400 * 24 * 3600_000,
};

/** What a caller may ask of a job. */
export const JOB_LIMITS = {
  /** docs/interface.md, new job. */
  descriptionChars: 100,
  scriptChars: 2000,
  /** A script runs in the agent's session: longer work belongs into a scheduler entry that the script makes. */
  timeoutSeconds: 24 * 3600,
  /** 30 days: after that nobody remembers what the job was for. */
  deliveryMinutes: 30 * 24 * 60,
  /** Less leaves no time for a fresh connection over a slow line; more than an hour nobody waits for a router. */
  undoSeconds: { least: 30, most: 3600 },
} as const;

/** The jobs of a router that is removed or replaced. */
export interface Withdrawal {
  teamId: string;
  routerId: string;
  now: number;
  /** Its agent tells nothing any more: what it holds may have run. */
  agentRevoked: boolean;
  /** Leave those that no agent holds as they are. */
  keepQueued?: boolean;
  /** Of the jobs that are taken back: a stable word, and the same for people. */
  reason: string;
  error: string;
}
