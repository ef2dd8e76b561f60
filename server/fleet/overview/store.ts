import { sql } from 'kysely';
import { ofTeamByIds } from '../../platform/storage/by-ids.ts';
import { countUpTo } from '../../platform/storage/count-up-to.ts';
import type { Db } from '../../platform/storage/db.ts';
import { JOB_STATUS_SQL } from '../../platform/storage/job-status.ts';
import { MOST_COUNTED } from '../../platform/storage/list-query.ts';

export interface PlacedRouter {
  id: string;
  siteId: string | null;
  version: string;
}

const LINE = sql.lit('\n');

/**
 * The routers of a team that are not removed, with what they may have in common, in no order. As one text of lines, which both drivers read
 * several times faster than as many rows: 10,000 take some 3 ms on SQLite, and 5 on PostgreSQL.
 */
export async function selectPlacedRouters(db: Db, teamId: string): Promise<PlacedRouter[]> {
  const line = sql`id || ${LINE} || coalesce(site_id, '') || ${LINE} || replace(software_version, ${LINE}, ' ')`;
  const { lines } = await db
    .selectFrom('routers')
    .select(sql<string | null>`string_agg(${line}, ${LINE})`.as('lines'))
    .where('team_id', '=', teamId)
    .where('removed_at', 'is', null)
    .executeTakeFirstOrThrow();
  const fields = lines === null ? [] : lines.split('\n');
  const routers: PlacedRouter[] = [];
  for (let at = 0; at < fields.length; at += 3)
    routers.push({ id: fields[at]!, siteId: fields[at + 1]! || null, version: fields[at + 2]! });
  return routers;
}

export interface KnownAgent {
  id: string;
  hasConnected: boolean;
}

/** Agents that may connect, in no order. Read as {@link selectPlacedRouters} does it. */
export async function selectLiveAgents(db: Db, teamId: string): Promise<KnownAgent[]> {
  const line = sql`id || ${LINE} || case when connected_at is null then '' else 'yes' end`;
  const { lines } = await db
    .selectFrom('agents')
    .select(sql<string | null>`string_agg(${line}, ${LINE})`.as('lines'))
    .where('team_id', '=', teamId)
    .where('revoked_at', 'is', null)
    .where('removed_at', 'is', null)
    .executeTakeFirstOrThrow();
  const fields = lines === null ? [] : lines.split('\n');
  const agents: KnownAgent[] = [];
  for (let at = 0; at < fields.length; at += 2) agents.push({ id: fields[at]!, hasConnected: fields[at + 1] !== '' });
  return agents;
}

export async function selectNames(db: Db, table: 'agents' | 'sites', teamId: string, ids: readonly string[]): Promise<[string, string][]> {
  if (ids.length === 0) return [];
  const rows = await db.selectFrom(table).select(['id', 'name']).$call(ofTeamByIds(teamId, ids)).execute();
  return rows.map(({ id, name }) => [id, name]);
}

export async function countOpenFaults(db: Db, teamId: string): Promise<Record<string, number>> {
  const rows = await db
    .selectFrom('faults')
    .select((eb) => ['severity', eb.fn.countAll<number | string | bigint>().as('count')])
    .where('team_id', '=', teamId)
    .where('resolved_at', 'is', null)
    .groupBy('severity')
    .execute();
  return Object.fromEntries(rows.map(({ severity, count }) => [severity, Number(count)]));
}

/** Jobs that were made since a moment, by status. Each is counted in the index alone, no further than {@link MOST_COUNTED}. */
export async function countJobs<Status extends string>(
  db: Db,
  teamId: string,
  statuses: readonly Status[],
  since: number,
): Promise<{ counts: Record<Status, number>; isExact: boolean }> {
  const jobsOf = (status: string) => sql`select id from jobs
    where team_id = ${teamId} and ${sql.raw(JOB_STATUS_SQL)} = ${status} and created_at >= ${since} limit ${MOST_COUNTED + 1}`;
  const row = await db
    .selectNoFrom(statuses.map((status) => sql<number | string>`(select count(*) from (${jobsOf(status)}) as counted)`.as(status)))
    .executeTakeFirstOrThrow();
  // PostgreSQL counts in bigint, which may come as text.
  const found = statuses.map((status) => [status, Number((row as Record<string, number | string>)[status])] as const);
  return {
    counts: Object.fromEntries(found.map(([status, count]) => [status, Math.min(count, MOST_COUNTED)])) as Record<Status, number>,
    isExact: found.every(([, count]) => count <= MOST_COUNTED),
  };
}

export async function countOpenForwards(db: Db, teamId: string): Promise<number> {
  return countUpTo(db, db.selectFrom('forwards').select('id').where('team_id', '=', teamId).where('closed_at', 'is', null), MOST_COUNTED);
}

export async function countOpenTerminals(db: Db, teamId: string): Promise<number> {
  return countUpTo(db, db.selectFrom('terminals').select('id').where('team_id', '=', teamId).where('ended_at', 'is', null), MOST_COUNTED);
}

export async function countRunningCampaigns(db: Db, teamId: string): Promise<number> {
  const running = db.selectFrom('campaigns').select('id').where('team_id', '=', teamId).where('state', '=', 'running');
  return countUpTo(db, running, MOST_COUNTED);
}
