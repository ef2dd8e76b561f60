import type { Migration } from './types.ts';

/**
 * A new job has no agent, and mostly no key of its caller: its own request's id then stands for the key. Neither is looked for, so the
 * insert writes two indexes less.
 */
function statements(): string[] {
  return [
    'drop index jobs_by_agent_phase',
    'create index jobs_by_agent_phase on jobs (agent_id, phase) where agent_id is not null',
    'drop index jobs_by_key',
    'create index jobs_by_key on jobs (team_id, router_id, idempotency_key) where idempotency_key <> request_id',
    // SQLite takes the newest of the indexes that seem equally good to it: it counted a team's open jobs in the index of descriptions.
    'drop index jobs_open_by_creator',
    "create index jobs_open_by_creator on jobs (team_id, created_by) where phase in ('queued', 'accepted', 'running')",
  ];
}

export const smallerJobIndexes: Migration = { number: 43, name: 'smaller job indexes', statements };
