import { JOB_STATUS_SQL } from '../job-status.ts';
import type { Engine } from '../capabilities.ts';
import type { Migration } from './types.ts';

/**
 * PostgreSQL counts in an index of an expression only if the index also has the columns of the expression: without them it read the jobs of a
 * day for the overview. SQLite needs none. The index is the former one with four columns more, of which a new job has one.
 */
function statements(engine: Engine): string[] {
  if (engine === 'sqlite') return [];
  return [
    'drop index jobs_by_status',
    `create index jobs_by_status on jobs (team_id, ${JOB_STATUS_SQL}, created_at, id)
      include (phase, completed_at, failed_at, deleted_at)`,
  ];
}

export const countedJobs: Migration = { number: 58, name: 'counted jobs', statements };
