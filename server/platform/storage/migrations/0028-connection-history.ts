import { capabilities, type Engine } from '../capabilities.ts';
import type { Migration } from './types.ts';

/** The states of routers over time, the sessions of agents, and when there was a control plane to notice them. */
function statements(engine: Engine): string[] {
  const { text } = capabilities[engine];
  return [
    `create table server_runs (id ${text} primary key, started_at bigint not null, alive_at bigint not null, stopped_at bigint)`,
    `create table router_state_changes (
      id ${text} primary key, team_id ${text} not null references teams (id),
      router_id ${text} not null references routers (id) on delete cascade,
      state ${text} not null, reason ${text}, since bigint not null, until bigint)`,
    'create index router_state_changes_by_router on router_state_changes (router_id, since)',
    'create index router_state_changes_open on router_state_changes (team_id, state, router_id) where until is null',
    'create index router_state_changes_by_end on router_state_changes (until)',
    `create table agent_sessions (
      id ${text} primary key, team_id ${text} not null references teams (id),
      agent_id ${text} not null references agents (id) on delete cascade,
      epoch bigint, opened_at bigint not null, ready_at bigint, closed_at bigint, address ${text} not null, agent_version ${text},
      reset integer not null, ended_by ${text}, round_trip_min_us bigint, round_trip_p50_us bigint, round_trip_p95_us bigint,
      pings_answered bigint not null, pings_lost bigint not null, bytes_in bigint, bytes_out bigint)`,
    'create index agent_sessions_by_agent on agent_sessions (agent_id, opened_at, id)',
    'create index agent_sessions_open on agent_sessions (id) where closed_at is null',
    'create index agent_sessions_by_end on agent_sessions (closed_at)',
  ];
}

export const connectionHistory: Migration = { number: 28, name: 'connection history', statements };
