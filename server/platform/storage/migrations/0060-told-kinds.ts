import { capabilities, type Engine } from '../capabilities.ts';
import type { Migration } from './types.ts';

/** Which kinds of facts a thread has to tell, and a message tells: people leave topics, and topics list kinds. */
function statements(engine: Engine): string[] {
  const { text } = capabilities[engine];
  return [
    `alter table threads add column kinds ${text} not null default '[]'`,
    `alter table messages add column kinds ${text} not null default '[]'`,
    `update threads set kinds = '["' || kind || '"]' where closed_at is null and kind like '%.%'`,
    `update messages set kinds = (select kinds from threads where threads.id = messages.thread_id) where due_at is not null`,
  ];
}

export const toldKinds: Migration = { number: 60, name: 'told kinds', statements };
