import { sql } from 'kysely';
import type { SelectQueryBuilder, SqlBool } from 'kysely';
import type { Found, ListPage } from '../../../platform/core/list-page.ts';
import type { Db } from '../../../platform/storage/db.ts';
import { JOB_STATUS_SQL } from '../../../platform/storage/job-status.ts';
import { findPage, ofTeam } from '../../../platform/storage/list-query.ts';
import type { Schema } from '../../../platform/storage/schema.ts';
import { STATUSES } from '../state.ts';
import type { JobFilter, JobOverview } from './types.ts';

/** All but the script and the output, which are up to 64 kB each. */
const COLUMNS = [
  'id',
  'team_id',
  'router_id',
  'site_id',
  'token',
  'request_id',
  'idempotency_key',
  'description',
  'express_execute',
  'needs_acknowledgement',
  'make_backup',
  'notify_url',
  'timeout_ms',
  'phase',
  'reason',
  'error',
  'output_truncated',
  'agent_id',
  'epoch',
  'created_by',
  'created_via',
  'created_at',
  'expires_at',
  'accepted_at',
  'started_at',
  'overdue_at',
  'completed_at',
  'failed_at',
  'deleted_at',
  'version',
  'notified_version',
  'undo_seconds',
  'backup_id',
] as const satisfies readonly (keyof JobOverview)[];

const status = sql.raw(JOB_STATUS_SQL);

type Jobs = SelectQueryBuilder<Schema, 'jobs', JobOverview>;

export async function findJobs(
  db: Db,
  teamId: string,
  filter: JobFilter,
  page: ListPage,
  wantsTotal: boolean,
): Promise<Found<JobOverview>> {
  const { siteId } = filter;
  let jobs = db.selectFrom('jobs').select(COLUMNS).$call(ofTeam(teamId, filter));
  if (siteId !== undefined) jobs = siteId === null ? jobs.where('site_id', 'is', null) : jobs.where('site_id', '=', siteId);
  return findPage(db, byStatus(jobs, filter), { page, value: sql.ref('created_at'), valueOf: (job) => job.created_at, wantsTotal });
}

/**
 * One query for each status, for which there is an index in the order of the list; the one of sites has no other. Of one router's jobs the
 * status is looked at row by row: `|| ''` keeps SQLite from reading all jobs of the team with that status instead.
 */
function byStatus(jobs: Jobs, { statuses, routerId, siteId }: JobFilter): Jobs[] {
  if (statuses.length === STATUSES.length && (siteId === undefined || routerId !== undefined)) return [jobs];
  if (routerId !== undefined && statuses.length > 0) return [jobs.where(sql<SqlBool>`(${status} || '') in (${sql.join([...statuses])})`)];
  return statuses.map((wanted) => jobs.where(sql<SqlBool>`${status} = ${wanted}`));
}
