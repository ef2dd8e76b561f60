import { z } from 'zod';
import { fromJson, inChunks, toJson } from '../../platform/storage/columns.ts';
import type { Tx } from '../../platform/storage/db.ts';
import { EVENT_TYPES } from './types.ts';
import type { EventType, KeptStream } from './types.ts';

const onlineColumn = z.array(z.string());

/** Stores the state of the streams. The table must be empty: {@link takeKept} empties it. */
export async function insertKept(tx: Tx, streams: readonly KeptStream[]): Promise<void> {
  const positions = streams.map(({ teamId, origin, last, online }) => ({ team_id: teamId, origin, last, online: toJson(online) }));
  for (const chunk of inChunks(positions)) await tx.insertInto('event_positions').values(chunk).execute();
  const events = streams.flatMap(({ teamId, entries }) =>
    entries.map(({ number, type, text }) => ({ team_id: teamId, number, type, content: text })),
  );
  for (const chunk of inChunks(events)) await tx.insertInto('kept_events').values(chunk).execute();
}

/**
 * Reads and removes the stored state: it is valid once. After a crash there is none, because some events may have been
 * published and not stored; readers must then resync.
 */
export async function takeKept(tx: Tx): Promise<KeptStream[]> {
  const positions = await tx.selectFrom('event_positions').selectAll().execute();
  const rows = await tx.selectFrom('kept_events').selectAll().orderBy('team_id').orderBy('number').execute();
  await tx.deleteFrom('kept_events').execute();
  await tx.deleteFrom('event_positions').execute();
  const entriesOf = Map.groupBy(rows, (row) => row.team_id);
  return positions.map((position) => ({
    teamId: position.team_id,
    origin: position.origin,
    last: position.last,
    online: onlineColumn.parse(fromJson(position.online)),
    entries: (entriesOf.get(position.team_id) ?? [])
      .filter(({ type }) => isEventType(type))
      .map(({ number, type, content }) => ({ number, type: type as EventType, text: content })),
  }));
}

/** Another version of the program may have fewer event types. */
function isEventType(type: string): boolean {
  return (EVENT_TYPES as readonly string[]).includes(type);
}
