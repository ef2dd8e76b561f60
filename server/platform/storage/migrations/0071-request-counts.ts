import { capabilities, type Engine } from '../capabilities.ts';
import type { Migration } from './types.ts';

/**
 * What several control planes count together. The tables are not logged: a count lives for minutes, a crash of the server may empty them as
 * the restart of a single control plane does, and no request waits for a disk or for a standby because it was counted.
 *
 * SQLite has one control plane, which counts in memory.
 */
function statements(engine: Engine): string[] {
  const { text, singleWriter } = capabilities[engine];
  if (singleWriter) return [];
  return [
    // Room beside each row for its next versions, so that they touch no index.
    `create unlogged table request_counts (
      key ${text} primary key, most bigint not null, granted bigint not null, total bigint not null,
      stamps bigint[] not null, counts bigint[] not null
    ) with (fillfactor = 50)`,
    `create unlogged table sign_in_attempts (key ${text} primary key, empty_at bigint not null) with (fillfactor = 50)`,
  ];
}

export const requestCounts: Migration = { number: 71, name: 'request counts', statements };
