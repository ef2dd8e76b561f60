import { sql } from 'kysely';
import type { SqlBool } from 'kysely';
import type { Total } from '../../platform/core/list-page.ts';
import { ofTeamByIds } from '../../platform/storage/by-ids.ts';
import { countUpTo } from '../../platform/storage/count-up-to.ts';
import type { Db } from '../../platform/storage/db.ts';
import { JOB_STATUS_SQL } from '../../platform/storage/job-status.ts';
import { MOST_COUNTED, totalOf } from '../../platform/storage/list-query.ts';

export interface PlacedRouter {
  id: string;
  site_id: string | null;
  software_version: string;
}

/** The routers of a team that are not removed, with what they may have in common, in no order: 20,000 take some 8 ms on SQLite. */
export async function selectPlacedRouters(db: Db, teamId: string): Promise<PlacedRouter[]> {
  return db
    .selectFrom('routers')
    .select(['id', 'site_id', 'software_version'])
    .where('team_id', '=', teamId)
    .where('removed_at', 'is', null)
    .execute();
}

export interface KnownAgent {
  id: string;
  name: string;
  connected_at: number | null;
}

/** Agents that may connect. */
export async function selectLiveAgents(db: Db, teamId: string): Promise<KnownAgent[]> {
  return db
    .selectFrom('agents')
    .select(['id', 'name', 'connected_at'])
    .where('team_id', '=', teamId)
    .where('revoked_at', 'is', null)
    .where('removed_at', 'is', null)
    .execute();
}

export async function selectSiteNames(db: Db, teamId: string, ids: readonly string[]): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await db.selectFrom('sites').select(['id', 'name']).$call(ofTeamByIds(teamId, ids)).execute();
  return new Map(rows.map(({ id, name }) => [id, name]));
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

/** Jobs of one status that were made since a moment. Counted in the index alone. */
export async function countJobs(db: Db, teamId: string, status: string, since: number): Promise<Total> {
  const jobs = db
    .selectFrom('jobs')
    .select('id')
    .where('team_id', '=', teamId)
    .where(sql<SqlBool>`${sql.raw(JOB_STATUS_SQL)} = ${status}`)
    .where('created_at', '>=', since);
  return totalOf(db, [jobs]);
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
