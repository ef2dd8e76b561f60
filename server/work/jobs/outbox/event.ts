import { statusOf } from '../state.ts';
import type { Status } from '../state.ts';
import type { JobRecord } from '../types.ts';

/** The events that a receiver at `notify_url` gets: one for each change of a job's public status. */
export const JOB_EVENT_TYPES = [
  'job.loaded',
  'job.running',
  'job.completed',
  'job.failed',
  'job.deleted',
  'job.expired',
  'job.unknown',
] as const;
export type JobEventType = (typeof JOB_EVENT_TYPES)[number];

const TYPE_OF: Record<Status, JobEventType> = {
  pending: 'job.loaded',
  running: 'job.running',
  completed: 'job.completed',
  failed: 'job.failed',
  deleted: 'job.deleted',
  expired: 'job.expired',
  unknown: 'job.unknown',
};

export function eventTypeOf(job: JobRecord): JobEventType {
  return TYPE_OF[statusOf(job)];
}

/**
 * The body of the request, as Standard Webhooks defines it. It is built once, at the transition, and every attempt sends
 * it unchanged. It leaves out the script, its output and the router's error, because they may hold secrets. A receiver
 * that is allowed to see them reads the job.
 */
export function eventBody(job: JobRecord, at: number): string {
  return JSON.stringify({
    type: eventTypeOf(job),
    timestamp: new Date(at).toISOString(),
    data: {
      id: job.id,
      seq_id: job.version,
      status: statusOf(job),
      phase: job.phase,
      reason: job.reason,
      token: job.token,
      idempotency_key: job.idempotency_key,
      request_id: job.request_id,
      router_id: job.router_id,
      site_id: job.site_id,
      description: job.description,
      express_execute: job.express_execute === 1,
      needs_acknowledgement: job.needs_acknowledgement === 1,
      make_backup: job.make_backup === 1,
      created_at: moment(job.created_at),
      started_at: moment(job.started_at),
      completed_at: moment(job.completed_at),
      failed_at: moment(job.failed_at),
      deleted_at: moment(job.deleted_at),
    },
  });
}

function moment(millis: number | null): string | null {
  return millis === null ? null : new Date(millis).toISOString();
}
