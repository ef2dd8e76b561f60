import { capabilities, type Engine } from '../capabilities.ts';
import type { Migration } from './types.ts';

/** Links that prove a Telegram chat, and how far the messages to the bot were read. */
function statements(engine: Engine): string[] {
  const { text } = capabilities[engine];
  return [
    `create table telegram_links (id ${text} primary key, team_id ${text} not null, user_id ${text} not null, token_hash ${text} not null,
      created_at bigint not null, expires_at bigint not null, proved_at bigint, contact_id ${text},
      foreign key (team_id, user_id) references members (team_id, user_id) on delete cascade)`,
    'create unique index telegram_links_by_token on telegram_links (token_hash)',
    'create index telegram_links_by_member on telegram_links (team_id, user_id)',
    'create index telegram_links_by_user on telegram_links (user_id, created_at)',
    'create index telegram_links_by_time on telegram_links (created_at)',
    'create index telegram_links_waiting on telegram_links (expires_at) where proved_at is null',
    `create table telegram_readers (id ${text} primary key, bot_id ${text}, next_update bigint, moved_at bigint, due_at bigint not null,
      claim ${text}, claimed_until bigint, read_at bigint, failures integer not null, problem ${text})`,
  ];
}

export const telegramLinks: Migration = { number: 75, name: 'telegram links', expands: true, statements };
