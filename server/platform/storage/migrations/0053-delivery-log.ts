import { capabilities, type Engine } from '../capabilities.ts';
import type { Migration } from './types.ts';

/**
 * The delivery log keeps what a message said and where it went. Threads and messages are listed newest first, by what people ask for; each
 * index has the order of the list.
 */
function statements(engine: Engine): string[] {
  const { text } = capabilities[engine];
  return [
    `alter table messages add column subject ${text}`,
    `alter table messages add column address ${text}`,
    'create index messages_by_group on messages (team_id, group_id, created_at, id)',
    'create index messages_by_state on messages (team_id, state, created_at, id)',
    'create index messages_by_reason on messages (team_id, reason, created_at, id) where reason is not null',
    'create index threads_by_group on threads (team_id, group_id, created_at, id)',
    'create index threads_by_state on threads (team_id, state, created_at, id)',
    'create index threads_by_router on threads (team_id, router_id, created_at, id) where router_id is not null',
    'create index threads_by_site on threads (team_id, site_id, created_at, id) where site_id is not null',
  ];
}

export const deliveryLog: Migration = { number: 53, name: 'delivery log', statements };
