import { sql } from 'kysely';
import type { SqlBool } from 'kysely';
import type { Found, ListPage } from '../../../platform/core/list-page.ts';
import type { Db } from '../../../platform/storage/db.ts';
import { JOB_STATUS_SQL } from '../../../platform/storage/job-status.ts';
import { findPage, ofTeam } from '../../../platform/storage/list-query.ts';
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

export async function findJobs(
  db: Db,
  teamId: string,
  filter: JobFilter,
  page: ListPage,
  wantsTotal: boolean,
): Promise<Found<JobOverview>> {
  const { statuses, siteId } = filter;
  let jobs = db.selectFrom('jobs').select(COLUMNS).$call(ofTeam(teamId, filter));
  if (siteId !== undefined) jobs = siteId === null ? jobs.where('site_id', 'is', null) : jobs.where('site_id', '=', siteId);
  const queries = statuses.length === STATUSES.length ? [jobs] : statuses.map((wanted) => jobs.where(sql<SqlBool>`${status} = ${wanted}`));
  return findPage(db, queries, { page, value: sql.ref('created_at'), valueOf: (job) => job.created_at, wantsTotal });
}
