import type { Migration } from './types.ts';

/** What the maker of a forward allows its connections (null: no idle limit, as many as there may be), and what they were. */
const statements = (): string[] => [
  'alter table forwards add column idle_seconds integer',
  'alter table forwards add column max_connections integer',
  'alter table forwards add column connection_count bigint not null default 0',
  'alter table forwards add column bytes_in bigint not null default 0',
  'alter table forwards add column bytes_out bigint not null default 0',
];

export const forwardLimits: Migration = { number: 8, name: 'forward-limits', statements };
