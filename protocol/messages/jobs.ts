import * as z from 'zod';
import { MAX_SCRIPT_CHARS } from '../limits.ts';
import { errorText, hardwareId, jobId, outputText, remainingMs, routerName } from './common.ts';

/**
 * Hand-over of a job: offer -> accepted -> go -> began -> ended -> ack. Each step is idempotent. `go` is the only permission to
 * run; a compare-and-set in the database gives it once.
 */

/** Server: this job waits for this router. The server writes nothing at this step. */
export const jobOffer = z.object({
  type: z.literal('job.offer'),
  job_id: jobId,
  router: routerName,
  hardware_id: hardwareId,
  script: z.string().max(MAX_SCRIPT_CHARS),
  make_backup: z.boolean(),
  needs_acknowledgement: z.boolean(),
  /** Longest run of the script. */
  timeout_ms: remainingMs,
  /** Undo guard: the router undoes the script after this many seconds unless the agent confirms reachability before. */
  undo_unless_reachable_seconds: z
    .int()
    .min(1)
    .max(24 * 3600)
    .optional(),
});

/** Agent: the job is on its disk. */
export const jobAccepted = z.object({ type: z.literal('job.accepted'), job_id: jobId });

/** Agent: it does not accept the job now (router unreachable, another device); the job stays queued. */
export const jobDeclined = z.object({
  type: z.literal('job.declined'),
  job_id: jobId,
  reason: z.enum(['unknown_router', 'wrong_router', 'router_unreachable', 'busy', 'disk', 'shutting_down']),
});

/** Server: run it. */
export const jobGo = z.object({ type: z.literal('job.go'), job_id: jobId });

/** Agent: BEGIN is on its disk; from now on the script may have run. */
export const jobBegan = z.object({ type: z.literal('job.began'), job_id: jobId });

export const jobReason = z.enum([
  'script_error',
  'backup_failed',
  'rejected',
  'timed_out',
  'rolled_back',
  'interrupted',
  'router_rebooted',
  'agent_forgot',
]);

export const jobResult = z.object({
  /** `unknown`: it may have run completely, partly or not at all. */
  outcome: z.enum(['completed', 'failed', 'unknown']),
  reason: jobReason.nullable(),
  error: errorText(4096).nullable(),
  output: outputText.nullable(),
  output_truncated: z.boolean(),
});

/** Agent: END is on its disk. Repeated at every `ready` until acknowledged. */
export const jobEnded = z.object({ type: z.literal('job.ended'), job_id: jobId, result: jobResult });

/** Server: stored; the agent may forget the job. */
export const jobAck = z.object({ type: z.literal('job.ack'), job_id: jobId });

/** Server: do not begin this accepted job. */
export const jobRevoke = z.object({ type: z.literal('job.revoke'), job_id: jobId });

/** Agent: REFUSED is on its disk; the job will never begin. */
export const jobRefused = z.object({ type: z.literal('job.refused'), job_id: jobId });

/** A day and an hour: the longest undo guard, with the wait for its first tick. */
const firesInMs = z
  .number()
  .min(0)
  .max(25 * 3_600_000);

/**
 * Agent: the undo guard of a job that it holds is armed, or can no longer fire because it was removed. A guard that has fired is reported by
 * the result. Servers that are older ignore it.
 */
export const jobGuard = z.object({
  type: z.literal('job.guard'),
  job_id: jobId,
  state: z.enum(['armed', 'disarmed']),
  /** Until the router undoes the script; null once disarmed. */
  fires_in_ms: firesInMs.nullable(),
});

/** Repeats in `ready` that a guard is armed. */
const armedGuard = z.object({ fires_in_ms: firesInMs }).optional();

/** One entry of the agent's journal in `ready`. */
export const openJob = z.discriminatedUnion('state', [
  z.object({ job_id: jobId, state: z.literal('accepted'), guard: armedGuard }),
  z.object({ job_id: jobId, state: z.literal('begun'), guard: armedGuard }),
  z.object({ job_id: jobId, state: z.literal('refused') }),
  z.object({ job_id: jobId, state: z.literal('ended'), result: jobResult }),
]);
