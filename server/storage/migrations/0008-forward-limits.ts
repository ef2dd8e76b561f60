import type { Migration } from './types.ts';

/** What the maker of a forward allows its connections: null for no idle limit, and for as many as there may be. */
const statements = (): string[] => [
  'alter table forwards add column idle_seconds integer',
  'alter table forwards add column max_connections integer',
];

export const forwardLimits: Migration = { number: 8, name: 'forward-limits', statements };
