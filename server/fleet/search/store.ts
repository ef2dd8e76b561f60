import { sql } from 'kysely';
import type { SqlBool } from 'kysely';
import { ofTeamByIds } from '../../platform/storage/by-ids.ts';
import type { Db, Storage } from '../../platform/storage/db.ts';
import { JOB_STATUS_SQL } from '../../platform/storage/job-status.ts';
import { searchHits } from '../../platform/storage/search.ts';
import type { SearchHit, SearchPlace, SearchWish } from '../../platform/storage/search.ts';
import { isShort, lowerAscii, SEARCH_KINDS } from '../../platform/storage/search-text.ts';
import type { SearchKind } from '../../platform/storage/search-text.ts';
import type { Found } from './types.ts';

export { indexWaiting } from '../../platform/storage/search-waiting.ts';

/** Where to look for a text, the closest matches first. Of one or two characters the index knows only the fields that begin with them. */
export function placesOf(text: string): SearchPlace[] {
  return isShort(text) ? ['whole', 'beginning'] : ['whole', 'beginning', 'anywhere'];
}

/** Ids of the records of a kind with a text, those first that were stored last. */
export async function selectHits({ db, engine }: Pick<Storage, 'db' | 'engine'>, wish: SearchWish): Promise<string[]> {
  const { rows } = await sql<SearchHit>`select record_id from ${searchHits(engine, wish)} as hits`.execute(db);
  return rows.map((row) => row.record_id);
}

/** The kind of the indexed record with an id, if the team has one. */
export async function selectKindOf(db: Db, teamId: string, id: string): Promise<SearchKind | undefined> {
  const kinds = sql.join(Object.keys(SEARCH_KINDS));
  const { rows } = await sql<{ kind: SearchKind }>`
    select kind from search_documents where kind in (${kinds}) and record_id = ${id} and team_id = ${teamId}`.execute(db);
  return rows[0]?.kind;
}

/** Jobs with an id, or with a description that is a text or begins with it, the newest first within a description. */
export async function selectJobs(
  db: Db,
  teamId: string,
  by: { id: string } | { text: string; place: Exclude<SearchPlace, 'anywhere'>; limit: number },
): Promise<Found[]> {
  const jobs = db
    .selectFrom('jobs')
    .select(['id', 'description', 'router_id', 'site_id', sql<string>`${sql.raw(JOB_STATUS_SQL)}`.as('status')])
    .where('team_id', '=', teamId);
  const rows = await ('id' in by ? jobs.where('id', '=', by.id) : jobs.$call((query) => describedBy(query, by))).execute();
  return rows.map((job) => ({
    kind: 'job',
    id: job.id,
    name: job.description,
    detail: job.status,
    siteId: job.site_id,
    routerId: job.router_id,
  }));

  function describedBy(query: typeof jobs, { text, place, limit }: Extract<typeof by, { text: string }>): typeof jobs {
    const description = sql`lower(description)`;
    const lowered = lowerAscii(text);
    const newestFirst = (found: typeof jobs): typeof jobs => found.orderBy('created_at', 'desc').orderBy('id', 'desc').limit(limit);
    // SQLite would sort all jobs of one description if it were told to order them by that as well.
    if (place === 'whole') return newestFirst(query.where(sql<SqlBool>`${description} = ${lowered}`));
    const end = `${lowered}${LAST_CHARACTER}`;
    return newestFirst(query.where(sql<SqlBool>`${description} >= ${lowered} and ${description} < ${end}`).orderBy(description));
  }
}

/** Behind every text in the order of bytes. */
const LAST_CHARACTER = '\u{10FFFF}';

/** The shown fields of records, in no order. A record that was deleted meanwhile is missing. */
export const SELECT_FOUND: Record<
  SearchKind,
  (db: Db, teamId: string, ids: readonly string[]) => Promise<(Found & { recordId: string })[]>
> = {
  router: async (db, teamId, ids) => {
    const rows = await db
      .selectFrom('routers')
      .select(['id', 'identity', 'model', 'board_name', 'serial_number', 'site_id'])
      .$call(ofTeamByIds(teamId, ids))
      .execute();
    return rows.map((row) => ({
      ...shown('router', row.id, row.identity),
      detail: [row.model ?? row.board_name, row.serial_number].filter((text) => text !== null && text !== '').join(', ') || null,
      siteId: row.site_id,
    }));
  },
  agent: async (db, teamId, ids) => {
    const agents = db.selectFrom('agents').select(['id', 'name', 'version', 'site_id']);
    const rows = await agents.$call(ofTeamByIds(teamId, ids)).execute();
    return rows.map((row) => ({ ...shown('agent', row.id, row.name), detail: row.version, siteId: row.site_id }));
  },
  site: async (db, teamId, ids) => {
    const rows = await db.selectFrom('sites').select(['id', 'name']).$call(ofTeamByIds(teamId, ids)).execute();
    return rows.map((row) => ({ ...shown('site', row.id, row.name), siteId: row.id }));
  },
  device: async (db, teamId, ids) => {
    const rows = await db
      .selectFrom('devices')
      .leftJoin('device_aliases', (join) =>
        join.onRef('device_aliases.team_id', '=', 'devices.team_id').onRef('device_aliases.mac', '=', 'devices.mac'),
      )
      .select(['devices.id', 'devices.mac', 'hostname', 'alias', 'manufacturer', 'site_id'])
      .$call(ofTeamByIds(teamId, ids, { id: 'devices.id', team: 'devices.team_id' }))
      .execute();
    return rows.map((row) => ({
      ...shown('device', row.mac, row.alias ?? row.hostname ?? row.mac),
      recordId: row.id,
      detail: row.manufacturer,
      siteId: row.site_id,
    }));
  },
  campaign: async (db, teamId, ids) => {
    const campaigns = db.selectFrom('campaigns').select(['id', 'description', 'state']);
    const rows = await campaigns.$call(ofTeamByIds(teamId, ids)).execute();
    return rows.map((row) => ({ ...shown('campaign', row.id, row.description), detail: row.state }));
  },
};

function shown(kind: SearchKind, id: string, name: string): Found & { recordId: string } {
  return { kind, id, recordId: id, name, detail: null, siteId: null, routerId: null };
}
