import type { Migration } from './types.ts';

/** How much a team's recordings hold is added up in this index alone, whenever a terminal is opened. */
function statements(): string[] {
  return [
    `create index terminals_kept_recordings on terminals (team_id, recording_chars)
      where recording_chunks > 0 and recording_deleted_at is null`,
  ];
}

export const keptRecordings: Migration = { number: 45, name: 'kept recordings', statements };
