import { capabilities, type Engine } from '../capabilities.ts';
import type { Migration } from './types.ts';

/**
 * Of several control planes, which one a forward and a terminal live at, and which one carries a connection. Each has ports of its own. Null
 * where one control plane serves the database alone.
 */
function statements(engine: Engine): string[] {
  const { text } = capabilities[engine];
  return [
    `alter table forwards add column node_id ${text}`,
    `alter table forward_connections add column node_id ${text}`,
    `alter table terminals add column node_id ${text}`,
    'drop index forwards_open_port',
    "create unique index forwards_open_port on forwards (coalesce(node_id, ''), port) where closed_at is null",
    // For the connections of a control plane that was killed: few are open among millions that have ended.
    "create index forward_connections_open on forward_connections (node_id) where ended_by = 'open'",
  ];
}

export const homes: Migration = { number: 72, name: 'homes', statements };
