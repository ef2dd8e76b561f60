import type { Job, JobDetail } from '../../../../client/browser.ts';
import type { Work } from '../../parts/work.ts';

type Seen = Pick<Job, 'status' | 'reason'> & Partial<Pick<JobDetail, 'guard'>>;

/** What became of a job, as a lamp shows it. */
export function workOf({ status, reason, guard }: Seen): Work {
  if (reason === 'rolled_back') return 'rolled_back';
  if (status === 'running' && guard?.state === 'armed') return 'armed';
  const works: Record<Job['status'], Work> = {
    pending: 'waiting',
    running: 'running',
    completed: 'done',
    failed: 'failed',
    deleted: 'canceled',
    expired: 'expired',
    unknown: 'unknown',
  };
  return works[status];
}

const REASONS: Record<string, string> = {
  script_error: 'an error in the script',
  backup_failed: 'the backup failed, the script did not run',
  rejected: 'refused before anything ran',
  timed_out: 'no end in time',
  rolled_back: 'the router undid it',
  interrupted: 'the agent stopped while it ran',
  router_rebooted: 'the router rebooted while it ran',
  agent_forgot: 'the agent lost its memory of it',
  agent_revoked: 'its agent was revoked',
};

/** Why a job did not simply complete; '' where there is nothing to say. */
export function reasonWords(reason: string | null): string {
  if (reason === null) return '';
  return REASONS[reason] ?? reason.replaceAll('_', ' ');
}

type Checked = Pick<Job, 'status' | 'reason' | 'started_at' | 'output' | 'output_truncated' | 'backup' | 'error'>;

/**
 * Whether the router's check of the script, which comes before the backup, refused it: an error with its place in the script, without a begin and
 * without an output. A run can lose its begin on the way, and an output may have been deleted: then nobody says that nothing ran.
 */
export function isRefusedByCheck({ status, reason, output_truncated: isCut, error, ...job }: Checked): boolean {
  const hasTrace = job.started_at !== null || job.output !== null || isCut || job.backup !== null;
  return status === 'failed' && reason === 'script_error' && !hasTrace && / \(line \d+ column \d+\)$/.test(error ?? '');
}

/** When a job ended, in whatever way. */
export function endOf({ completed_at, failed_at, deleted_at }: Pick<Job, 'completed_at' | 'failed_at' | 'deleted_at'>): string | null {
  return completed_at ?? failed_at ?? deleted_at;
}

/** `1 router`, `212 routers`. */
export function countOf(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
}

/** `1.8 s` for short times, which matter here; otherwise as everywhere. */
export function tookWords(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`;
  return ms < 10_000 ? `${(ms / 1000).toFixed(1)} s` : '';
}

/** `addresses, routes and the firewall`. */
export function listOf(items: readonly string[]): string {
  return items.length < 2 ? (items[0] ?? '') : `${items.slice(0, -1).join(', ')} and ${items.at(-1)}`;
}
