import { capabilities, type Engine } from '../capabilities.ts';
import type { Migration } from './types.ts';

/** Where the event streams of teams stood when the server was stopped; the next start takes it, and empties these tables. */
function statements(engine: Engine): string[] {
  const { text } = capabilities[engine];
  return [
    `create table event_positions (
      team_id ${text} primary key references teams (id), origin ${text} not null, last bigint not null, online ${text} not null)`,
    `create table kept_events (
      team_id ${text} not null references teams (id), number bigint not null, type ${text} not null, content ${text} not null,
      primary key (team_id, number))`,
  ];
}

export const keptEvents: Migration = { number: 10, name: 'kept events', statements };
