import { sql } from 'kysely';
import type { Storage, Tx } from './db.ts';
import { placeOf, scopeOf, wordsOf } from './search-text.ts';
import type { SearchKind } from './search-text.ts';

/** Documents of one write: SQLite adds them to its index in about 5 ms, and they cost a third of what each costs by itself. */
const MOST = 256;

interface Waiting {
  n: number;
  kind: SearchKind;
  team_id: string;
  place: string | null;
  content: string;
}

/** Indexes all that waits, in writes between which others have their turn. Does nothing on PostgreSQL. @throws AppError `unavailable` */
export async function indexWaiting(storage: Storage, signal?: AbortSignal): Promise<void> {
  if (storage.engine !== 'sqlite') return;
  // A write for nothing would stand in front of others.
  const { rows } = await sql`select 1 from search_waiting limit 1`.execute(storage.db);
  while (rows.length > 0) {
    const indexed = await storage.writes.write((tx) => indexNext(tx));
    if (indexed < MOST || signal?.aborted === true) return;
  }
}

/** @returns how many */
async function indexNext(tx: Tx): Promise<number> {
  const { rows } = await sql<Waiting>`select n, kind, team_id, place, content from search_waiting join search_documents using (n)
    order by n limit ${MOST}`.execute(tx);
  if (rows.length === 0) return 0;
  const numbers = JSON.stringify(rows.map(({ n }) => n));
  const entries = JSON.stringify(rows.map(entryOf));
  // A changed document is there with its former words.
  await sql`delete from search_index where rowid in (select value from json_each(${numbers}))`.execute(tx);
  await sql`insert into search_index (rowid, place, content)
    select value ->> 0, value ->> 1, value ->> 2 from json_each(${entries})`.execute(tx);
  await sql`delete from search_waiting where n in (select value from json_each(${numbers}))`.execute(tx);
  return rows.length;
}

/** Its number, and the words of its place and of its text. */
function entryOf({ n, kind, team_id: teamId, place, content }: Waiting): [number, string | null, string] {
  const scope = scopeOf(kind, teamId);
  return [n, place === null ? null : scope + placeOf(place), wordsOf(scope, content)];
}
