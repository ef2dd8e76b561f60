import type { NewNotice } from '../../../platform/notices/types.ts';
import { statusOf } from '../state.ts';
import type { Status } from '../state.ts';
import type { JobRecord } from '../types.ts';

const NOTICE_OF: Partial<Record<Status, Pick<NewNotice, 'kind' | 'severity'>>> = {
  completed: { kind: 'job.completed', severity: 'info' },
  failed: { kind: 'job.failed', severity: 'warning' },
  expired: { kind: 'job.expired', severity: 'warning' },
  unknown: { kind: 'job.unknown', severity: 'warning' },
};

/**
 * What people are told of a transition; undefined unless it ended the job. The script, its output and the router's error are left out,
 * because they may hold secrets.
 */
export function jobNotice(job: JobRecord, now: number): NewNotice | undefined {
  const status = statusOf(job);
  const told = NOTICE_OF[status];
  if (!told) return undefined;
  // A job without acknowledgement was completed when its agent accepted it.
  if (status === 'completed' && job.completed_at !== now) return undefined;
  return {
    ...told,
    teamId: job.team_id,
    phase: 'info',
    key: `router:${job.router_id}:jobs`,
    recordId: job.id,
    version: job.version,
    routerId: job.router_id,
    at: now,
    data: { description: job.description, reason: job.reason, idempotency_key: job.idempotency_key },
  };
}
