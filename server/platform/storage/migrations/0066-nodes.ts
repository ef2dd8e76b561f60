import { capabilities, type Engine } from '../capabilities.ts';
import type { Migration } from './types.ts';

/** Which control planes serve this database. */
function statements(engine: Engine): string[] {
  const { text } = capabilities[engine];
  return [
    `create table nodes (
      id ${text} primary key, name ${text} not null, version ${text} not null, process ${text},
      beat bigint not null, started_at bigint not null
    )`,
  ];
}

export const nodes: Migration = { number: 66, name: 'nodes', statements };
