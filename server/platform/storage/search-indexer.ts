import { sql } from 'kysely';
import type { Clock } from '../core/clock.ts';
import type { Log } from '../core/log.ts';
import { Periodic } from '../core/periodic.ts';
import type { Storage, Tx } from './db.ts';
import { placeOf, scopeOf, wordsOf } from './search-text.ts';
import type { SearchKind } from './search-text.ts';

/** Searches read what waits without an index: some thousand documents when a fleet of 10,000 agents connects, in some milliseconds. */
const EVERY_MS = 500;
/** Documents of one write: SQLite adds them to its index in about 5 ms, and they cost a third of what each costs by itself. */
const MOST = 256;

interface Waiting {
  n: number;
  kind: SearchKind;
  team_id: string;
  place: string | null;
  content: string;
}

/**
 * Moves the documents that wait (migration 81) into SQLite's search index. PostgreSQL keeps such a list by itself. A document is in the list or
 * in the index after every transaction, so searches find it at any time.
 */
export class SearchIndexer {
  readonly #storage: Storage;
  readonly #periodic: Periodic;

  constructor({ storage, clock, log }: { storage: Storage; clock: Clock; log: Log }) {
    this.#storage = storage;
    const failure = 'documents cannot be added to the search index; searches read them without it';
    this.#periodic = new Periodic({ clock, log, everyMs: EVERY_MS, failure, run: (signal) => indexWaiting(storage, signal) });
  }

  start(): void {
    if (this.#storage.engine === 'sqlite') this.#periodic.start();
  }

  /** Resolves when the current write has ended. */
  async stop(): Promise<void> {
    await this.#periodic.stop();
  }
}

/** Indexes all that waits on SQLite, in writes between which others have their turn. @throws AppError `unavailable` */
export async function indexWaiting(storage: Storage, signal?: AbortSignal): Promise<void> {
  for (;;) {
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
