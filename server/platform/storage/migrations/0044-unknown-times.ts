import type { Migration } from './types.ts';

/** Times without a control plane are read newest first. A control plane that dies again and again leaves thousands of runs a day. */
export const unknownTimes: Migration = {
  number: 44,
  name: 'unknown-times',
  statements: () => ['create index server_runs_by_end on server_runs (coalesce(stopped_at, alive_at), id)'],
};
