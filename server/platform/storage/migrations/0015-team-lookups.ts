import type { Migration } from './types.ts';

/** Routers by the identity that a person types, and the faults of a whole team. */
function statements(): string[] {
  return [
    'create index routers_by_identity on routers (team_id, identity)',
    'create index faults_by_team on faults (team_id, created_at, id)',
  ];
}

export const teamLookups: Migration = { number: 15, name: 'team lookups', statements };
