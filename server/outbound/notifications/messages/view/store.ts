import { inChunks } from '../../../../platform/storage/columns.ts';
import type { DbOrTx } from '../../../../platform/storage/db.ts';
import type { ItemRow, ThreadRow } from '../../threads/types.ts';

/** What a message says is read when it is sent. */

export async function selectThread(db: DbOrTx, teamId: string, id: string): Promise<ThreadRow | undefined> {
  return db.selectFrom('threads').selectAll().where('team_id', '=', teamId).where('id', '=', id).executeTakeFirst();
}

/** What is open first, then the newest. */
export async function selectFirstItems(db: DbOrTx, teamId: string, threadIds: readonly string[], limit: number): Promise<ItemRow[]> {
  if (threadIds.length === 0) return [];
  return db
    .selectFrom('thread_items')
    .selectAll()
    .where('team_id', '=', teamId)
    .where('thread_id', 'in', threadIds)
    .orderBy((eb) => eb.case().when('resolved_at', 'is', null).then(0).else(1).end())
    .orderBy('opened_at', 'desc')
    .orderBy('record_id')
    .limit(limit)
    .execute();
}

/** Jobs of a thread by how they ended. */
export async function countKinds(db: DbOrTx, teamId: string, threadId: string): Promise<Map<string, number>> {
  const rows = await db
    .selectFrom('thread_items')
    .select('kind')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('team_id', '=', teamId)
    .where('thread_id', '=', threadId)
    .groupBy('kind')
    .execute();
  return new Map(rows.map(({ kind, count }) => [kind, count]));
}

/** Threads in this one, those that are open first, then in the order in which they began. A site in a storm brings its own. */
export async function selectChildThreads(db: DbOrTx, teamId: string, parentIds: readonly string[]): Promise<ThreadRow[]> {
  const children: ThreadRow[] = [];
  for (const chunk of inChunks(parentIds))
    children.push(
      ...(await db
        .selectFrom('threads')
        .selectAll()
        .where('team_id', '=', teamId)
        .where('parent_id', 'in', chunk)
        .orderBy('state', 'desc')
        .orderBy('first_at')
        .orderBy('id')
        .execute()),
    );
  return children;
}

/** Of an agent, also those that answer. */
export async function countRoutersOfAgent(db: DbOrTx, teamId: string, agentId: string): Promise<number> {
  const { count } = await db
    .selectFrom('routers')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('team_id', '=', teamId)
    .where('agent_id', '=', agentId)
    .where('removed_at', 'is', null)
    .executeTakeFirstOrThrow();
  return count;
}

export async function countRoutersOfSite(db: DbOrTx, teamId: string, siteId: string): Promise<number> {
  const { count } = await db
    .selectFrom('routers')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('team_id', '=', teamId)
    .where('site_id', '=', siteId)
    .where('removed_at', 'is', null)
    .executeTakeFirstOrThrow();
  return count;
}

export async function countTargets(db: DbOrTx, teamId: string, campaignId: string): Promise<Record<string, number>> {
  const rows = await db
    .selectFrom('campaign_targets')
    .select('status')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('team_id', '=', teamId)
    .where('campaign_id', '=', campaignId)
    .groupBy('status')
    .execute();
  return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
}

export interface Names {
  team: string;
  routers: ReadonlyMap<string, { name: string; siteId: string | null }>;
  agents: ReadonlyMap<string, string>;
  sites: ReadonlyMap<string, { name: string; timeZone: string | null }>;
}

export async function selectNames(
  db: DbOrTx,
  teamId: string,
  ids: { routers: readonly string[]; agents: readonly string[]; sites: readonly string[] },
): Promise<Names> {
  const team = await db.selectFrom('teams').select('name').where('id', '=', teamId).executeTakeFirst();
  const routers = new Map<string, { name: string; siteId: string | null }>();
  for (const chunk of inChunks(ids.routers))
    for (const { id, identity, site_id: siteId } of await db
      .selectFrom('routers')
      .select(['id', 'identity', 'site_id'])
      .where('team_id', '=', teamId)
      .where('id', 'in', chunk)
      .execute())
      routers.set(id, { name: identity, siteId });
  const agents = new Map<string, string>();
  for (const chunk of inChunks(ids.agents))
    for (const { id, name } of await db
      .selectFrom('agents')
      .select(['id', 'name'])
      .where('team_id', '=', teamId)
      .where('id', 'in', chunk)
      .execute())
      agents.set(id, name);
  const wanted = new Set([...ids.sites, ...[...routers.values()].map(({ siteId }) => siteId).filter((id) => id !== null)]);
  const sites = new Map<string, { name: string; timeZone: string | null }>();
  for (const chunk of inChunks([...wanted]))
    for (const { id, name, time_zone: timeZone } of await db
      .selectFrom('sites')
      .select(['id', 'name', 'time_zone'])
      .where('team_id', '=', teamId)
      .where('id', 'in', chunk)
      .execute())
      sites.set(id, { name, timeZone });
  return { team: team?.name ?? '', routers, agents, sites };
}
