import { capabilities, type Engine } from '../capabilities.ts';
import type { Migration } from './types.ts';

/** Round trips and losses of agents' tunnels over time. */
function statements(engine: Engine): string[] {
  const { text, clustered } = capabilities[engine];
  return [
    `create table agent_link_steps (
      agent_id ${text} not null references agents (id) on delete cascade,
      span_s integer not null, at bigint not null, part integer not null,
      answered integer not null, lost integer not null, least_us bigint, most_us bigint, counts ${text} not null,
      primary key (agent_id, span_s, at, part))${clustered}`,
  ];
}

export const linkSteps: Migration = { number: 32, name: 'link steps', statements };
