import { capabilities, type Engine } from '../capabilities.ts';
import type { Migration } from './types.ts';

/** What people want to read together, and which messages wait for that. */
function statements(engine: Engine): string[] {
  const { text } = capabilities[engine];
  return [
    `alter table users add column digest ${text}`,
    // Eight in the morning.
    'alter table users add column digest_at integer not null default 480',
    `alter table users add column digest_kinds ${text} not null default '[]'`,
    'alter table messages add column digest_at bigint',
    `alter table messages add column digest_id ${text}`,
    'create index messages_for_digest on messages (team_id, recipient_id) where digest_at is not null',
    'create index messages_next_digest on messages (digest_at) where digest_at is not null',
    'create index messages_in_digest on messages (digest_id) where digest_id is not null',
  ];
}

export const digests: Migration = { number: 62, name: 'digests', statements };
