import { capabilities, type Engine } from '../capabilities.ts';
import type { Migration } from './types.ts';

const VALUES = ['cpu', 'memory', 'disk', 'celsius', 'volts'];

/** The health of routers over time. */
function statements(engine: Engine): string[] {
  const { text, clustered } = capabilities[engine];
  const columns = VALUES.map(
    (value) => `${value}_count integer not null, ${value}_sum integer not null, ${value}_min integer, ${value}_max integer`,
  );
  return [
    `create table router_health_steps (
      router_id ${text} not null references routers (id) on delete cascade,
      span_s integer not null, at bigint not null, part integer not null,
      ${columns.join(', ')},
      primary key (router_id, span_s, at, part))${clustered}`,
  ];
}

export const healthSteps: Migration = { number: 34, name: 'health steps', statements };
