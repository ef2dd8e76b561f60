import { capabilities, type Engine } from '../capabilities.ts';
import type { Migration } from './types.ts';

/** Messages of threads with their attempts: the delivery log, and the queue of the sender. */
function statements(engine: Engine): string[] {
  const { text } = capabilities[engine];
  return [
    `create table messages (id ${text} primary key, team_id ${text} not null references teams (id),
      thread_id ${text} not null references threads (id) on delete cascade, group_id ${text} not null, recipient_type ${text} not null, recipient_id ${text} not null,
      channel ${text} not null, revision integer not null, kind ${text} not null, state ${text} not null, reason ${text},
      bucket ${text} not null, attempts integer not null, due_at bigint, expires_at bigint, claim ${text}, claimed_until bigint,
      provider_ref ${text}, created_at bigint not null, settled_at bigint)`,
    'create index messages_due on messages (team_id, due_at) where due_at is not null',
    'create index messages_next on messages (due_at) where due_at is not null',
    'create index messages_by_thread on messages (thread_id, recipient_id, channel, revision)',
    'create index messages_by_team on messages (team_id, created_at, id)',
    'create index messages_by_recipient on messages (team_id, recipient_id, created_at, id)',
    `create table message_attempts (id ${text} primary key, team_id ${text} not null references teams (id),
      message_id ${text} not null references messages (id) on delete cascade, at bigint not null, duration_ms integer not null,
      outcome ${text} not null, error ${text}, detail ${text})`,
    'create index message_attempts_by_message on message_attempts (message_id, at, id)',
    `create table send_buckets (key ${text} primary key, tokens double precision not null, at bigint not null, stopped_until bigint)`,
  ];
}

export const messages: Migration = { number: 51, name: 'messages', statements };
