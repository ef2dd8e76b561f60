import { sql } from 'kysely';
import type { RawBuilder, SqlBool } from 'kysely';
import type { Engine } from './capabilities.ts';
import { END, gramsOf, isShort, lowerAscii, placeOf, scopeOf, START, wordsOf } from './search-text.ts';
import type { SearchKind } from './search-text.ts';

/** Where in a field the text must stand. */
export type SearchPlace = 'whole' | 'beginning' | 'anywhere';

export interface SearchWish {
  teamId: string;
  kind: SearchKind;
  /** At least one of them is found. Not empty. */
  texts: readonly string[];
  place: SearchPlace;
  /** Devices of this site only. */
  siteId?: string | undefined;
  /** Goes on behind this number. */
  before?: number | undefined;
  limit: number;
}

/** A record that was found. `n` rises in the order in which records were first stored. */
export interface SearchHit {
  n: number;
  record_id: string;
}

/**
 * The records with a text in one of their fields, the last stored first. Small and capital letters from A to Z are the same. Found
 * through an index on both engines; one or two characters match at the beginnings of fields only, because parts of three characters
 * are what the index has.
 */
export function searchHits(engine: Engine, wish: SearchWish): RawBuilder<SearchHit> {
  const needles = wish.texts.map((text) => needleOf(lowerAscii(text), wish.place));
  return engine === 'sqlite' ? sqliteHits(wish, needles) : postgresHits(wish, needles);
}

/** What every row that is found fulfils. */
function ofWish({ teamId, kind, siteId, before }: SearchWish): RawBuilder<SqlBool> {
  const conditions = [
    sql<SqlBool>`search_documents.team_id = ${teamId}`,
    sql<SqlBool>`search_documents.kind = ${kind}`,
    ...(siteId === undefined ? [] : [sql<SqlBool>`search_documents.place = ${siteId}`]),
    ...(before === undefined ? [] : [sql<SqlBool>`search_documents.n < ${before}`]),
  ];
  return sql<SqlBool>`${sql.join(conditions, sql` and `)}`;
}

function needleOf(text: string, place: SearchPlace): string {
  if (place === 'whole') return `${START}${text}${END}`;
  if (isShort(text)) return `${START}${START}${text}`;
  return place === 'beginning' ? `${START}${text}` : text;
}

/**
 * SQLite's full-text index, read in the order of its rows from the last one, so that a word of every record costs no more than a rare one.
 * What the user gives is in hexadecimal digits there, and means nothing to its query language. What is not in it yet, or with former words, is
 * read as it is (search-waiting.ts).
 */
function sqliteHits(wish: SearchWish, needles: readonly string[]): RawBuilder<SearchHit> {
  const { teamId, kind, siteId, before, limit } = wish;
  const scope = scopeOf(kind, teamId);
  const phrases = needles.map((needle) => `"${wordsOf(scope, needle)}"`);
  const place = siteId === undefined ? '' : `place : "${scope}${placeOf(siteId)}" AND `;
  const rest = before === undefined ? sql`` : sql`and search_index.rowid < ${before}`;
  // `cross join` keeps the order of the tables: SQLite would else begin with the documents of the team.
  return sql<SearchHit>`(select n, record_id from (
      select search_documents.n, search_documents.record_id
      from search_index cross join search_documents on search_documents.n = search_index.rowid
      where search_index match ${`${place}content : (${phrases.join(' OR ')})`} ${rest} and ${ofWish(wish)}
      and not exists (select 1 from search_waiting where search_waiting.n = search_index.rowid)
      order by search_index.rowid desc limit ${limit})
    union all select n, record_id from (
      select search_documents.n, search_documents.record_id
      from search_waiting cross join search_documents on search_documents.n = search_waiting.n
      where ${ofWish(wish)} and ${holdsAny(needles, sql.raw('instr'))}
      order by search_waiting.n desc limit ${limit})
    order by n desc limit ${limit})`;
}

/** @param find the engine's function for the position of a text in another */
function holdsAny(needles: readonly string[], find: RawBuilder<unknown>): RawBuilder<SqlBool> {
  return sql<SqlBool>`(${sql.join(
    needles.map((needle) => sql`${find}(search_documents.content, ${needle}) > 0`),
    sql` or `,
  )})`;
}

/** Records scanned without the index, in some milliseconds: a word that one record in twenty contains fills a page from them. */
const LOOKED_THROUGH = 2000;

/**
 * PostgreSQL's index does not know the order of the records: of a word of every record it would find all, to sort them. So the latest records
 * are looked through first, and the index is asked only for what these do not have. It has no order of the parts of a text either, so that the
 * text is compared as well.
 */
function postgresHits(wish: SearchWish, needles: readonly string[]): RawBuilder<SearchHit> {
  const { teamId, kind, siteId, limit } = wish;
  const scope = scopeOf(kind, teamId);
  const place = siteId === undefined ? [] : [`${scope}${placeOf(siteId)}`];
  const holds = holdsAny(needles, sql.raw('strpos'));
  const isIndexed = sql`(${sql.join(
    needles.map((needle) => {
      const tokens = [...place, ...new Set(gramsOf(needle).map((gram) => scope + gram))];
      return sql`search_tokens(search_documents.kind, search_documents.team_id, search_documents.place, search_documents.content)
        @> ${tokens}::text[]`;
    }),
    sql` or `,
  )})`;
  return sql<SearchHit>`(with latest as materialized (
      select n, record_id, place, content from search_documents where ${ofWish({ ...wish, siteId: undefined })}
      order by n desc limit ${LOOKED_THROUGH}),
    near as materialized (
      select n, record_id from latest as search_documents where ${holds} ${siteId === undefined ? sql`` : sql`and place = ${siteId}`}
      order by n desc limit ${limit}),
    far as (
      select n, record_id from search_documents where ${isIndexed} and ${holds} and ${ofWish(wish)}
      and n < (select min(n) from latest) and (select count(*) from near) < ${limit}
      order by n desc limit ${limit})
    select n, record_id from near union all select n, record_id from far order by n desc limit ${limit})`;
}
