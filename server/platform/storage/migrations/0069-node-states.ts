import { capabilities, type Engine } from '../capabilities.ts';
import type { Migration } from './types.ts';

/**
 * What control planes of one database tell each other with every beat, which of them has written a record of the history, the secret key
 * that all of them must have, and which programs may still run on a newer schema.
 */
function statements(engine: Engine): string[] {
  const { text } = capabilities[engine];
  return [
    `alter table nodes add column state ${text} not null default 'up'`,
    `alter table nodes add column tunnels bigint not null default 0`,
    `alter table nodes add column clients bigint not null default 0`,
    `alter table nodes add column on_bus integer not null default 0`,
    `alter table nodes add column program_schema integer`,
    `alter table nodes add column keys ${text}`,
    `alter table agent_sessions add column node_id ${text}`,
    `alter table server_runs add column node_id ${text}`,
    `create table secret_keys (id ${text} primary key, fingerprint ${text} not null, created_at bigint not null)`,
    'alter table schema_migrations add column oldest_program integer',
  ];
}

export const nodeStates: Migration = { number: 69, name: 'states of nodes', statements };
