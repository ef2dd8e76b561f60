import type { Migration } from './types.ts';

/** Ended records of each team in order, so that the newest are kept (operations/retention). */
function statements(): string[] {
  return [
    'create index agent_sessions_ended on agent_sessions (team_id, opened_at, id) where closed_at is not null',
    'create index router_state_changes_ended on router_state_changes (team_id, since, id) where until is not null',
  ];
}

export const keptHistory: Migration = { number: 38, name: 'kept history', statements };
