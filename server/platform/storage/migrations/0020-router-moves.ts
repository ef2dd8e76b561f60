import { capabilities, type Engine } from '../capabilities.ts';
import type { Migration } from './types.ts';

/** Claims of agents on routers that belong to another agent of their team, until somebody decides. */
function statements(engine: Engine): string[] {
  const { text } = capabilities[engine];
  return [
    `create table router_moves (
      id ${text} primary key, team_id ${text} not null references teams (id),
      router_id ${text} not null references routers (id) on delete cascade, agent_id ${text} not null references agents (id) on delete cascade,
      agent_router ${text} not null, facts ${text} not null, address ${text} not null, state ${text} not null,
      created_at bigint not null, updated_at bigint not null)`,
    'create unique index router_moves_by_router on router_moves (router_id, agent_id)',
    'create index router_moves_by_team on router_moves (team_id, created_at, id)',
    'create index router_moves_by_agent on router_moves (agent_id)',
    // Serial numbers that differ in case or spaces only are one claim. Asked for with these very words.
    'create index routers_by_folded_hardware on routers (team_id, upper(trim(hardware_id)))',
  ];
}

export const routerMoves: Migration = { number: 20, name: 'router moves', statements };
