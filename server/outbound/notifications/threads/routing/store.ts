import { sql } from 'kysely';
import type { Insertable } from 'kysely';
import { fromJson, inChunks } from '../../../../platform/storage/columns.ts';
import type { DbOrTx } from '../../../../platform/storage/db.ts';
import type { ThreadsTable } from '../../../../platform/storage/schema-notices.ts';
import type { Mute } from '../../groups/types.ts';
import type { Window } from '../../schedules/types.ts';
import type { Listener, Place } from '../match.ts';
import type { ItemRow, NoticeRow, ThreadRow } from '../types.ts';
import type { ToldThread } from './settle.ts';

export { selectSilenced } from '../../silences/store.ts';
export { lockTeam } from '../../../../platform/storage/team-lock.ts';

/** Teams with notices that no thread has. Skips from team to team in the index, so that one team's storm does not slow it. */
export async function selectTeamsToRoute(db: DbOrTx): Promise<string[]> {
  const { rows } = await sql<{ team_id: string }>`
    with recursive teams (team_id) as (
      select (select team_id from notices where routed_at is null order by team_id limit 1)
      union all
      select (select next.team_id from notices as next where next.routed_at is null and next.team_id > teams.team_id order by next.team_id limit 1)
      from teams where teams.team_id is not null)
    select team_id from teams where team_id is not null`.execute(db);
  return rows.map((row) => row.team_id);
}

/** In the order in which they were stored. */
export async function selectUnrouted(db: DbOrTx, teamId: string, limit: number): Promise<NoticeRow[]> {
  return db
    .selectFrom('notices')
    .selectAll()
    .where('team_id', '=', teamId)
    .where('routed_at', 'is', null)
    .orderBy('id')
    .limit(limit)
    .execute();
}

export async function markRouted(db: DbOrTx, teamId: string, ids: readonly string[], now: number): Promise<void> {
  for (const chunk of inChunks(ids))
    await db.updateTable('notices').set({ routed_at: now }).where('team_id', '=', teamId).where('id', 'in', chunk).execute();
}

/** The groups of a team, at most 200 (groups/service.ts), and those that are deleted and have ends to tell. */
export async function selectListeners(db: DbOrTx, teamId: string): Promise<Listener[]> {
  const groups = await db
    .selectFrom('notification_groups')
    .leftJoin('schedules', (join) =>
      join.onRef('schedules.id', '=', 'notification_groups.schedule_id').onRef('schedules.team_id', '=', 'notification_groups.team_id'),
    )
    .select(['notification_groups.id', 'notification_groups.mute', 'notification_groups.deleted_at'])
    .select(['schedules.time_zone', 'schedules.windows'])
    .where('notification_groups.team_id', '=', teamId)
    .where((eb) =>
      eb.or([
        eb('notification_groups.deleted_at', 'is', null),
        eb.exists(
          eb
            .selectFrom('threads')
            .select('threads.id')
            .where('threads.team_id', '=', teamId)
            .whereRef('threads.group_id', '=', 'notification_groups.id')
            .where('threads.closed_at', 'is', null),
        ),
      ]),
    )
    .execute();
  const topics = await db
    .selectFrom('group_topics')
    .innerJoin('topics', 'topics.id', 'group_topics.topic_id')
    .select(['group_topics.group_id', 'topics.events'])
    .where('group_topics.team_id', '=', teamId)
    .where('topics.team_id', '=', teamId)
    .execute();
  const sites = await db.selectFrom('group_sites').select(['group_id', 'site_id']).where('team_id', '=', teamId).execute();
  return groups.map((group) => ({
    id: group.id,
    isDeleted: group.deleted_at !== null,
    events: topics.filter(({ group_id: id }) => id === group.id).flatMap(({ events }) => fromJson(events) as string[]),
    sites: sites.filter(({ group_id: id }) => id === group.id).map(({ site_id: site }) => site),
    mute: group.mute as Mute,
    schedule: group.time_zone === null ? null : { timeZone: group.time_zone, windows: fromJson(group.windows ?? '[]') as Window[] },
  }));
}

const NOWHERE: Place = { siteId: null, sites: [], agentId: null };

/** What says where a notice is. */
type Placed = Pick<NoticeRow, 'id' | 'kind' | 'router_id' | 'agent_id' | 'record_id'>;

/** Where notices are, by notice id. */
export async function selectPlaces(db: DbOrTx, teamId: string, notices: readonly Placed[]): Promise<Map<string, Place>> {
  const ofRouters = await placesOfRouters(db, teamId, notices);
  const ofAgents = await sitesOfAgents(db, teamId, notices);
  const ofCampaigns = await sitesOfCampaigns(db, teamId, notices);
  return new Map(
    notices.map((notice) => {
      const { id, router_id: router, agent_id: agent, record_id: record } = notice;
      if (router !== null) return [id, ofRouters.get(router) ?? NOWHERE];
      if (agent !== null) return [id, placeOf(ofAgents.get(agent))];
      return [id, notice.kind.startsWith('campaign.') ? placeOf(ofCampaigns.get(record)) : NOWHERE];
    }),
  );
}

function placeOf(sites: readonly string[] | undefined): Place {
  const distinct = [...new Set(sites ?? [])];
  return { siteId: distinct.length === 1 ? distinct[0]! : null, sites: distinct, agentId: null };
}

async function placesOfRouters(db: DbOrTx, teamId: string, notices: readonly Placed[]): Promise<Map<string, Place>> {
  const ids = [...new Set(notices.map(({ router_id: id }) => id).filter((id) => id !== null))];
  const places = new Map<string, Place>();
  for (const chunk of inChunks(ids)) {
    const routers = db.selectFrom('routers').select(['id', 'site_id', 'agent_id']).where('team_id', '=', teamId).where('id', 'in', chunk);
    for (const { id, site_id: siteId, agent_id: agentId } of await routers.execute())
      places.set(id, { siteId, sites: siteId === null ? [] : [siteId], agentId });
  }
  return places;
}

/** The agent's own site and those of its routers. */
async function sitesOfAgents(db: DbOrTx, teamId: string, notices: readonly Placed[]): Promise<Map<string, string[]>> {
  const ids = [...new Set(notices.map(({ agent_id: id }) => id).filter((id) => id !== null))];
  const sites = new Map<string, string[]>();
  for (const chunk of inChunks(ids)) {
    const own = db.selectFrom('agents').select(['id', 'site_id']).where('team_id', '=', teamId).where('id', 'in', chunk);
    const routers = db
      .selectFrom('routers')
      .select(['agent_id as id', 'site_id'])
      .where('team_id', '=', teamId)
      .where('agent_id', 'in', chunk)
      .where('removed_at', 'is', null);
    for (const { id, site_id: site } of await own.union(routers).execute())
      if (site !== null) sites.set(id, [...(sites.get(id) ?? []), site]);
  }
  return sites;
}

async function sitesOfCampaigns(db: DbOrTx, teamId: string, notices: readonly Placed[]): Promise<Map<string, string[]>> {
  const sites = new Map<string, string[]>();
  const ids = new Set(notices.filter(({ kind }) => kind.startsWith('campaign.')).map(({ record_id: id }) => id));
  for (const id of ids) {
    const rows = await db
      .selectFrom('campaign_targets')
      .innerJoin('routers', 'routers.id', 'campaign_targets.router_id')
      .select('routers.site_id')
      .distinct()
      .where('campaign_targets.team_id', '=', teamId)
      .where('campaign_targets.campaign_id', '=', id)
      .where('routers.site_id', 'is not', null)
      .execute();
    sites.set(
      id,
      rows.map(({ site_id: site }) => site).filter((site) => site !== null),
    );
  }
  return sites;
}

/** Threads of a team that can still change, by their keys. */
export async function selectOpenThreads(db: DbOrTx, teamId: string, keys: readonly string[]): Promise<ThreadRow[]> {
  const threads: ThreadRow[] = [];
  for (const chunk of inChunks(keys))
    threads.push(
      ...(await db
        .selectFrom('threads')
        .selectAll()
        .where('team_id', '=', teamId)
        .where('closed_at', 'is', null)
        .where('key', 'in', chunk)
        .execute()),
    );
  return threads;
}

export async function selectItems(
  db: DbOrTx,
  teamId: string,
  threadIds: readonly string[],
  recordIds: readonly string[],
): Promise<ItemRow[]> {
  const items: ItemRow[] = [];
  for (const chunk of inChunks(threadIds))
    for (const records of inChunks(recordIds))
      items.push(
        ...(await db
          .selectFrom('thread_items')
          .selectAll()
          .where('team_id', '=', teamId)
          .where('thread_id', 'in', chunk)
          .where('record_id', 'in', records)
          .execute()),
      );
  return items;
}

/** Threads of these groups that may wait for quiet together. */
export async function selectSettling(db: DbOrTx, teamId: string, groupIds: readonly string[]): Promise<ThreadRow[]> {
  return db
    .selectFrom('threads')
    .selectAll()
    .where('team_id', '=', teamId)
    .where('group_id', 'in', groupIds)
    .where('pending', 'in', ['open', 'flapping', 'info'])
    .where('flush_at', 'is not', null)
    .where('closed_at', 'is', null)
    .execute();
}

/**
 * Threads that are read of what groups were told lately: a few for each of 200 groups. They take some milliseconds. When there are more, what
 * follows the oldest of them is told sooner.
 */
export const MOST_TOLD = 1000;

/** Threads of these groups and kinds, at sites or of routers behind agents, that are told by themselves, are open, and were told after a time; the newest of them. */
export async function selectToldAfter(
  db: DbOrTx,
  teamId: string,
  { groupIds, kinds }: { groupIds: readonly string[]; kinds: readonly string[] },
  after: number,
): Promise<ToldThread[]> {
  return db
    .selectFrom('threads')
    .select(['group_id', 'site_id', 'router_id', 'agent_id', 'kind', 'key', 'told_at', 'openings'])
    .where('team_id', '=', teamId)
    .where('group_id', 'in', groupIds)
    .where('kind', 'in', kinds)
    .where('told_open', '=', 1)
    .where('told_at', '>', after)
    .where((eb) => eb.or([eb('site_id', 'is not', null), eb.and([eb('router_id', 'is not', null), eb('agent_id', 'is not', null)])]))
    .where('parent_id', 'is', null)
    .where('state', '=', 'open')
    .where('closed_at', 'is', null)
    .orderBy('told_at', 'desc')
    .limit(MOST_TOLD)
    .execute();
}

export async function insertThreads(db: DbOrTx, threads: readonly Insertable<ThreadsTable>[]): Promise<void> {
  for (const chunk of inChunks(threads)) await db.insertInto('threads').values(chunk).execute();
}

/** Stores a thread as it is now. */
export async function updateThread(db: DbOrTx, thread: ThreadRow): Promise<void> {
  const { id, team_id: teamId, group_id: _group, key: _key, router_id: _router, agent_id: _agent, site_id: _site, ...rest } = thread;
  const { created_at: _created, ...values } = rest;
  await db.updateTable('threads').set(values).where('team_id', '=', teamId).where('id', '=', id).execute();
}

/** Columns that say what a thread is. */
const FIXED = ['id', 'team_id', 'group_id', 'key', 'router_id', 'agent_id', 'site_id', 'created_at'] as const;
type Changing = Exclude<keyof ThreadRow, (typeof FIXED)[number]>;
const isChanging = (name: string): name is Changing => !(FIXED as readonly string[]).includes(name);

/** Stores threads as they are now, many with one statement. */
export async function updateThreads(db: DbOrTx, threads: readonly ThreadRow[]): Promise<void> {
  const changing = Object.keys(threads[0] ?? {}).filter(isChanging);
  for (const chunk of inChunks(threads))
    await db
      .insertInto('threads')
      .values(chunk)
      .onConflict((conflict) =>
        conflict.column('id').doUpdateSet((eb) => Object.fromEntries(changing.map((name) => [name, eb.ref(`excluded.${name}`)]))),
      )
      .execute();
}

export async function upsertItems(db: DbOrTx, items: readonly ItemRow[]): Promise<void> {
  for (const chunk of inChunks(items))
    await db
      .insertInto('thread_items')
      .values(chunk)
      .onConflict((conflict) =>
        conflict
          .columns(['thread_id', 'record_id'])
          .doUpdateSet((eb) => ({
            kind: eb.ref('excluded.kind'),
            severity: eb.ref('excluded.severity'),
            version: eb.ref('excluded.version'),
            opened_at: eb.ref('excluded.opened_at'),
            resolved_at: eb.ref('excluded.resolved_at'),
            data: eb.ref('excluded.data'),
          })),
      )
      .execute();
}
