import type { Migration } from './types.ts';

/** What a provider says of a message after it took it. It names the message by its own reference. */
function statements(): string[] {
  return [
    'alter table messages add column delivered_at bigint',
    'alter table messages add column read_at bigint',
    'create index messages_by_ref on messages (channel, provider_ref) where provider_ref is not null',
  ];
}

export const receipts: Migration = { number: 76, name: 'receipts', expands: true, statements };
