import { sql } from 'kysely';
import type { Insertable } from 'kysely';
import type { Page } from '../../platform/core/page.ts';
import { ofTeamByIds } from '../../platform/storage/by-ids.ts';
import { inChunks } from '../../platform/storage/columns.ts';
import type { DbOrTx } from '../../platform/storage/db.ts';
import { madeWithKey } from '../../platform/storage/idempotency-key.ts';
import type { KeyInUse } from '../../platform/storage/idempotency-key.ts';
import { newestFirst } from '../../platform/storage/paging.ts';
import type { CampaignsTable } from '../../platform/storage/schema-campaigns.ts';
import type { StatusCount } from './counts.ts';
import type { CampaignRecord, CampaignState, OutputGroup, Outcome, TargetState, TargetStatus } from './types.ts';

export { lockTeam } from '../../platform/storage/team-lock.ts';

/** Queries for callers: create, read, pause, end. Those of the runner are in run/store.ts. */

/** Those of the ids that belong to routers of the team. */
export async function selectKnownRouters(db: DbOrTx, teamId: string, routerIds: readonly string[]): Promise<Set<string>> {
  const known = new Set<string>();
  for (const ids of inChunks(routerIds)) {
    const rows = await db.selectFrom('routers').select('id').$call(ofTeamByIds(teamId, ids)).where('removed_at', 'is', null).execute();
    for (const { id } of rows) known.add(id);
  }
  return known;
}

export async function selectKnownSites(db: DbOrTx, teamId: string, siteIds: readonly string[]): Promise<Set<string>> {
  const rows = await db.selectFrom('sites').select('id').$call(ofTeamByIds(teamId, siteIds)).execute();
  return new Set(rows.map(({ id }) => id));
}

/** Routers at any of the sites, oldest first, at most `limit`. */
export async function selectRoutersAtSites(db: DbOrTx, teamId: string, siteIds: readonly string[], limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('routers')
    .select('id')
    .where('team_id', '=', teamId)
    .where('site_id', 'in', siteIds)
    .where('removed_at', 'is', null)
    .orderBy('created_at')
    .orderBy('id')
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}

/** Campaigns of the team that are not over. */
export async function countOpen(db: DbOrTx, teamId: string): Promise<number> {
  const { count } = await db
    .selectFrom('campaigns')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('team_id', '=', teamId)
    .where('finished_at', 'is', null)
    .executeTakeFirstOrThrow();
  return count;
}

/** Routers in all campaigns that the team has created since a time; a router in two campaigns counts twice. */
export async function countTargetsSince(db: DbOrTx, teamId: string, since: number): Promise<number> {
  const { count } = await db
    .selectFrom('campaigns')
    .select((eb) => eb.fn.sum<number | string | null>('target_count').as('count'))
    .where('team_id', '=', teamId)
    .where('created_at', '>=', since)
    .executeTakeFirstOrThrow();
  return Number(count ?? 0);
}

/**
 * Inserts the campaign with all its targets; the first ones are its canaries. Call it inside a write, so that both are stored or neither.
 */
export async function insertCampaign(
  db: DbOrTx,
  campaign: Insertable<CampaignsTable>,
  routerIds: readonly string[],
): Promise<CampaignRecord> {
  const inserted = await db.insertInto('campaigns').values(campaign).returningAll().executeTakeFirstOrThrow();
  const targets = routerIds.map((routerId, position) => ({
    campaign_id: campaign.id,
    team_id: campaign.team_id,
    router_id: routerId,
    position,
    canary: position < campaign.canary_count ? (1 as const) : (0 as const),
    status: 'waiting',
  }));
  for (const rows of inChunks(targets)) await db.insertInto('campaign_targets').values(rows).execute();
  return inserted;
}

/** The campaign that was created with a key since a time: the answer to a repeated POST after a crash. */
export async function selectCampaignByKey(db: DbOrTx, key: KeyInUse): Promise<CampaignRecord | undefined> {
  return db.selectFrom('campaigns').selectAll().$call(madeWithKey(key)).executeTakeFirst();
}

export async function selectCampaign(db: DbOrTx, teamId: string, id: string): Promise<CampaignRecord | undefined> {
  return db.selectFrom('campaigns').selectAll().where('team_id', '=', teamId).where('id', '=', id).executeTakeFirst();
}

/** Newest first. */
export async function selectCampaigns(db: DbOrTx, teamId: string, page: Page): Promise<CampaignRecord[]> {
  return db.selectFrom('campaigns').selectAll().where('team_id', '=', teamId).$call(newestFirst(page)).execute();
}

/** Undefined when the campaign is in none of the states `from`. */
export async function changeState(
  db: DbOrTx,
  change: { teamId: string; id: string; from: readonly CampaignState[]; to: CampaignState },
): Promise<CampaignRecord | undefined> {
  return db
    .updateTable('campaigns')
    .set({ state: change.to })
    .where('id', '=', change.id)
    .where('team_id', '=', change.teamId)
    .where('state', 'in', change.from)
    .returningAll()
    .executeTakeFirst();
}

/** Number of targets by status, for each campaign (at most 1,000). */
export async function selectCounts(db: DbOrTx, teamId: string, ids: readonly string[]): Promise<Map<string, StatusCount[]>> {
  const counts = new Map<string, StatusCount[]>(ids.map((id) => [id, []]));
  if (ids.length === 0) return counts;
  const rows = await db
    .selectFrom('campaign_targets')
    .select(['campaign_id', 'status', 'canary'])
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('campaign_id', 'in', ids)
    .where('team_id', '=', teamId)
    .groupBy(['campaign_id', 'status', 'canary'])
    .execute();
  for (const { campaign_id: id, status, ...row } of rows) counts.get(id)?.push({ ...row, status: status as TargetState });
  return counts;
}

/** Number of jobs that have begun on their router and not ended, for each campaign (at most 1,000). */
export async function countRunning(db: DbOrTx, teamId: string, ids: readonly string[]): Promise<Map<string, number>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom('campaign_targets as targets')
    .innerJoin('jobs', 'jobs.id', 'targets.job_id')
    .select('targets.campaign_id')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('targets.campaign_id', 'in', ids)
    .where('targets.team_id', '=', teamId)
    .where('targets.status', '=', 'started')
    .where('jobs.phase', '=', 'running')
    .groupBy('targets.campaign_id')
    .execute();
  return new Map(rows.map((row) => [row.campaign_id, row.count]));
}

/** A target's status while the campaign has no recorded result for it. */
const liveStatus = sql<Exclude<TargetStatus, 'skipped'>>`case targets.status when 'claimed' then 'pending'
  when 'started' then case jobs.phase when 'running' then 'running' else 'pending' end else targets.status end`;

export interface TargetRow {
  router_id: string;
  position: number;
  canary: 0 | 1;
  status: Exclude<TargetStatus, 'skipped'>;
  job_id: string | null;
  reason: string | null;
  claimed_at: number | null;
  settled_at: number | null;
}

/** In the requested order, after a position. */
export async function selectTargets(
  db: DbOrTx,
  query: { teamId: string; id: string; statuses: readonly TargetStatus[]; after: number; limit: number },
): Promise<TargetRow[]> {
  let targets = db
    .selectFrom('campaign_targets as targets')
    .leftJoin('jobs', 'jobs.id', 'targets.job_id')
    .select(['targets.router_id', 'targets.position', 'targets.canary', 'targets.job_id', 'targets.reason'])
    .select(['targets.claimed_at', 'targets.settled_at', liveStatus.as('status')])
    .where('targets.campaign_id', '=', query.id)
    .where('targets.team_id', '=', query.teamId)
    .where('targets.position', '>', query.after);
  if (query.statuses.length > 0) targets = targets.where(liveStatus, 'in', query.statuses as TargetRow['status'][]);
  return targets.orderBy('targets.position').limit(query.limit).execute();
}

/** Router ids shown with each group. */
const SHOWN_ROUTERS = 5;

/** The largest groups first; only targets with a result. */
export async function selectGroups(db: DbOrTx, query: { teamId: string; id: string; limit: number }): Promise<OutputGroup[]> {
  const { rows } = await sql<GroupRow>`
    select ranked.status, ranked.output_hash, ranked.size, ranked.place, ranked.router_id, ranked.reason,
      case when ranked.place = 1 then jobs.output end as output, case when ranked.place = 1 then jobs.error end as error
    from (
      select placed.*, dense_rank() over (order by placed.size desc, placed.status, placed.output_hash) as ranking
      from (
        select status, output_hash, router_id, job_id, reason,
          row_number() over (partition by status, output_hash order by position) as place,
          count(*) over (partition by status, output_hash) as size
        from campaign_targets where campaign_id = ${query.id} and team_id = ${query.teamId} and output_hash is not null
      ) as placed
    ) as ranked left join jobs on jobs.id = ranked.job_id
    where ranked.ranking <= ${query.limit} and ranked.place <= ${SHOWN_ROUTERS}
    order by ranked.ranking, ranked.place`.execute(db);
  return withinOutputs(toGroups(rows));
}

/** The default number of groups with the longest kept output each. A larger answer takes too long to serialise. */
const MOST_OUTPUT_OF_GROUPS = 4 * 2 ** 20;

/** The first groups, up to this much output in total. */
function withinOutputs(groups: readonly OutputGroup[]): OutputGroup[] {
  let printed = 0;
  return groups.filter(({ output }) => (printed += output?.length ?? 0) <= MOST_OUTPUT_OF_GROUPS);
}

interface GroupRow {
  status: Outcome;
  output_hash: string;
  size: number;
  place: number;
  router_id: string;
  reason: string | null;
  output: string | null;
  error: string | null;
}

/** Rows of a group are consecutive; the first one has the sample. */
function toGroups(rows: readonly GroupRow[]): OutputGroup[] {
  const groups: OutputGroup[] = [];
  for (const { status, output_hash: outputHash, size, place, router_id, reason, output, error } of rows) {
    if (place === 1) groups.push({ status, outputHash, count: size, output, error, reason, routerIds: [] });
    groups.at(-1)?.routerIds.push(router_id);
  }
  return groups;
}

/** Number of groups. */
export async function countGroups(db: DbOrTx, teamId: string, id: string): Promise<number> {
  const { count } = await db
    .selectFrom((eb) =>
      eb
        .selectFrom('campaign_targets')
        .select(['status', 'output_hash'])
        .where('campaign_id', '=', id)
        .where('team_id', '=', teamId)
        .where('output_hash', 'is not', null)
        .groupBy(['status', 'output_hash'])
        .as('groups'),
    )
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count;
}
