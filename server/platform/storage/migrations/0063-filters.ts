import { JOB_STATUS_SQL } from '../job-status.ts';
import type { Migration } from './types.ts';

/**
 * Filters that few records pass read all records of the team: entries of the audit log by their action or by who acted, and jobs of a site by
 * their status. Each index has the order of the list behind its filter. The action stands in front of the time because a filter names the
 * beginning of actions, of which there are as many as routes (access/audit/store.ts).
 */
function statements(): string[] {
  return [
    'create index audit_log_by_action on audit_log (team_id, action, at, id)',
    'create index audit_log_by_actor on audit_log (team_id, actor_id, action, at, id)',
    'drop index jobs_by_site',
    `create index jobs_by_site on jobs (team_id, site_id, ${JOB_STATUS_SQL}, created_at, id)`,
  ];
}

export const filters: Migration = { number: 63, name: 'filters', statements };
