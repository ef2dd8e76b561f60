import { capabilities, type Engine } from '../capabilities.ts';
import type { Migration } from './types.ts';

/** The messages about one router are listed newest first. Without the router in their own row, all messages of the team were read for it. */
function statements(engine: Engine): string[] {
  const { text } = capabilities[engine];
  return [
    `alter table messages add column router_id ${text}`,
    'update messages set router_id = (select threads.router_id from threads where threads.id = messages.thread_id)',
    'create index messages_by_router on messages (team_id, router_id, created_at, id) where router_id is not null',
  ];
}

export const messagesOfARouter: Migration = { number: 59, name: 'messages of a router', statements };
