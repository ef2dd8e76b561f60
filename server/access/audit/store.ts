import { sql } from 'kysely';
import type { RawBuilder, SqlBool } from 'kysely';
import type { Page } from '../../platform/core/page.ts';
import type { DbOrTx, Storage } from '../../platform/storage/db.ts';
import { newestFirst } from '../../platform/storage/paging.ts';
import type { AuditEntry, AuditFilter, ListedAuditEntry } from './types.ts';

export async function insertAuditEntries(storage: Storage, entries: readonly AuditEntry[]): Promise<void> {
  if (entries.length === 0) return;
  await storage.writes.write(async (tx) => {
    await tx.insertInto('audit_log').values(entries).execute();
  });
}

type Database = Pick<Storage, 'db' | 'engine'>;

/** Newest first, with the actor's current name. */
export async function selectAuditEntries(database: Database, teamId: string, filter: AuditFilter, page: Page): Promise<ListedAuditEntry[]> {
  const { db } = database;
  const { actor, action } = filter;
  if (actor === undefined && action === undefined)
    return withNames(db)
      .where(isWithin(teamId, filter))
      .$call(newestFirst(page, 'audit_log.at', 'audit_log.id'))
      .execute();
  const actions = await selectActions(db, teamId, filter);
  const ids = await selectIds(database, teamId, { filter, actions, page });
  if (ids.length === 0) return [];
  // Asked for an order, or for the team by its column, SQLite would rather read all entries of the team.
  const ofTeam = sql<SqlBool>`(audit_log.team_id || '') = ${teamId}`;
  const entries = await withNames(db).where('audit_log.id', 'in', ids).where(ofTeam).execute();
  const places = new Map(ids.map((id, place) => [id, place]));
  return entries.toSorted((a, b) => places.get(a.id)! - places.get(b.id)!);
}

/** Entries with the actor's name. The caller adds the team. */
function withNames(db: DbOrTx) {
  return (
    db
      .selectFrom('audit_log')
      .leftJoin('api_keys', (join) =>
        join.onRef('api_keys.id', '=', 'audit_log.actor_id').onRef('api_keys.team_id', '=', 'audit_log.team_id'),
      )
      // Includes people who have left the team: their entries keep their name.
      .leftJoin('users', (join) => join.onRef('users.id', '=', 'audit_log.actor_id').on('audit_log.actor_kind', '=', 'user'))
      .selectAll('audit_log')
      .select((eb) => eb.fn.coalesce('api_keys.name', 'users.email').as('actor_name'))
  );
}

/** Entries of the team, of one actor if the filter names one, in its time. */
function isWithin(teamId: string, { actor, since, until }: AuditFilter): RawBuilder<SqlBool> {
  const conditions = [
    sql<SqlBool>`audit_log.team_id = ${teamId}`,
    ...(actor === undefined ? [] : [sql<SqlBool>`audit_log.actor_id = ${actor}`]),
    ...(since === undefined ? [] : [sql<SqlBool>`audit_log.at >= ${since}`]),
    ...(until === undefined ? [] : [sql<SqlBool>`audit_log.at < ${until}`]),
  ];
  return sql<SqlBool>`${sql.join(conditions, sql` and `)}`;
}

/** Sorts after every other text in the byte order that both databases use. */
const LAST_CHARACTER = '\u{10FFFF}';
/** More than there are routes that change something; SQLite joins at most 500 queries. */
const MOST_ACTIONS = 400;

/** The different actions with the wanted beginning: each is found behind the one before it in the index, whatever the number of entries. */
async function selectActions(db: DbOrTx, teamId: string, { actor, action = '' }: AuditFilter): Promise<string[]> {
  const next = (behind: RawBuilder<SqlBool>): RawBuilder<string | null> => sql`(select action from audit_log
    where ${isWithin(teamId, { actor })} and ${behind} and action < ${action + LAST_CHARACTER} order by action limit 1)`;
  const { rows } = await sql<{ name: string }>`
    with recursive actions (name) as (
      select ${next(sql<SqlBool>`action >= ${action}`)}
      union all select ${next(sql<SqlBool>`action > actions.name`)} from actions where actions.name is not null)
    select name from actions where name is not null limit ${MOST_ACTIONS}`.execute(db);
  return rows.map(({ name }) => name);
}

interface Wanted {
  filter: AuditFilter;
  actions: readonly string[];
  page: Page;
}

/** The page of what these actions have together: both databases merge the parts of the index, and read no further than the page. */
async function selectIds(
  { db, engine }: Database,
  teamId: string,
  { filter, actions, page: { before, limit } }: Wanted,
): Promise<string[]> {
  if (actions.length === 0) return [];
  const older = before === undefined ? sql<SqlBool>`1 = 1` : sql<SqlBool>`(at, id) < (${before.at}, ${before.id})`;
  const order = sql`order by at desc, id desc limit ${limit}`;
  const ofAction = (action: string): RawBuilder<unknown> => {
    const part = sql`select at, id from audit_log where ${isWithin(teamId, filter)} and action = ${action} and ${older}`;
    // SQLite merges the parts as it reads them. PostgreSQL does so only with parts that have an order of their own.
    return engine === 'sqlite' ? part : sql`(${part} ${order})`;
  };
  const { rows } = await sql<{
    id: string;
  }>`select at, id from (${sql.join(actions.map(ofAction), sql` union all `)}) as parts ${order}`.execute(db);
  return rows.map(({ id }) => id);
}
