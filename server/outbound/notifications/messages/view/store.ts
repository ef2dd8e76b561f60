import { sql } from 'kysely';
import { inChunks } from '../../../../platform/storage/columns.ts';
import type { DbOrTx } from '../../../../platform/storage/db.ts';
import { faultOfPlace, placeKey } from '../../threads/gather.ts';
import type { ItemRow, ThreadRow } from '../../threads/types.ts';

export { countAgents } from '../../threads/telling/store.ts';

/** What a message says is read when it is sent; what a list says of many threads is read with one look at each table. */

export async function selectThreads(db: DbOrTx, teamId: string, ids: readonly string[]): Promise<ThreadRow[]> {
  const threads: ThreadRow[] = [];
  for (const chunk of inChunks([...new Set(ids)]))
    threads.push(...(await db.selectFrom('threads').selectAll().where('team_id', '=', teamId).where('id', 'in', chunk).execute()));
  return threads;
}

/** The first items of each thread: what is open first, then the newest. */
export async function selectFirstItems(
  db: DbOrTx,
  teamId: string,
  threadIds: readonly string[],
  limit: number,
): Promise<Map<string, ItemRow[]>> {
  const items: ItemRow[] = [];
  for (const chunk of inChunks(threadIds)) {
    const ranked = db
      .selectFrom('thread_items')
      .selectAll()
      .select(
        sql<number>`row_number() over (partition by thread_id
          order by case when resolved_at is null then 0 else 1 end, opened_at desc, record_id)`.as('place'),
      )
      .where('team_id', '=', teamId)
      .where('thread_id', 'in', chunk)
      .as('ranked');
    items.push(...(await db.selectFrom(ranked).selectAll().where('place', '<=', limit).orderBy('place').execute()));
  }
  return Map.groupBy(items, ({ thread_id: id }) => id);
}

/** Items of each thread by kind: of jobs, how they ended. */
export async function countKinds(db: DbOrTx, teamId: string, threadIds: readonly string[]): Promise<Map<string, Map<string, number>>> {
  const counts = new Map<string, Map<string, number>>();
  for (const chunk of inChunks(threadIds)) {
    const rows = await db
      .selectFrom('thread_items')
      .select(['thread_id', 'kind'])
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where('team_id', '=', teamId)
      .where('thread_id', 'in', chunk)
      .groupBy(['thread_id', 'kind'])
      .execute();
    for (const { thread_id: id, kind, count } of rows) counts.set(id, (counts.get(id) ?? new Map<string, number>()).set(kind, count));
  }
  return counts;
}

/** Threads in these, also once these are over: those that are open first, then in the order in which they began. */
export async function selectChildThreads(db: DbOrTx, teamId: string, parentIds: readonly string[]): Promise<ThreadRow[]> {
  const children: ThreadRow[] = [];
  for (const chunk of inChunks(parentIds))
    children.push(
      ...(await db
        .selectFrom('threads')
        .selectAll()
        .where('team_id', '=', teamId)
        .where((eb) => eb.or([eb('parent_id', 'in', chunk), eb.and([eb('parent_id', 'is', null), eb('told_in', 'in', chunk)])]))
        .orderBy('state', 'desc')
        .orderBy('first_at')
        .orderBy('id')
        .execute()),
    );
  return children;
}

/**
 * For each thread that stands for routers of a place, those that have the same fault and were told by themselves before it: they are as many as
 * the others together, and have ends of their own.
 */
export async function selectBeside(db: DbOrTx, teamId: string, places: readonly ThreadRow[]): Promise<Map<string, ThreadRow[]>> {
  const kinds = [...new Set(places.map((place) => `fault.${faultOfPlace(place)}`))];
  const alone: ThreadRow[] = [];
  for (const chunk of inChunks([...new Set(places.map(({ group_id: id }) => id))]))
    alone.push(
      ...(await db
        .selectFrom('threads')
        .selectAll()
        .where('team_id', '=', teamId)
        .where('group_id', 'in', chunk)
        .where('kind', 'in', kinds)
        .where('router_id', 'is not', null)
        .where('told_open', '=', 1)
        .where('parent_id', 'is', null)
        .where('state', '=', 'open')
        .where('closed_at', 'is', null)
        .orderBy('first_at')
        .orderBy('id')
        .execute()),
    );
  const byPlace = Map.groupBy(alone, (thread) => placeName(thread, thread.kind));
  return new Map(places.map((place) => [place.id, byPlace.get(placeName(place, `fault.${faultOfPlace(place)}`)) ?? []]));
}

function placeName({ group_id: groupId, site_id: siteId, agent_id: agentId }: ThreadRow, kind: string): string {
  return `${groupId} ${placeKey({ siteId, agentId }, kind) ?? ''}`;
}

/** The first threads of each digest, in the order in which they began, and how many there are. What several groups told is there once. */
export async function selectDigestedThreads(
  db: DbOrTx,
  teamId: string,
  digestIds: readonly string[],
  limit: number,
): Promise<Map<string, { threads: ThreadRow[]; count: number }>> {
  const digests = new Map<string, { threads: ThreadRow[]; count: number }>();
  for (const chunk of inChunks(digestIds)) {
    const ranked = await db
      .selectFrom((eb) =>
        eb
          .selectFrom((messages) =>
            messages
              .selectFrom('messages')
              .innerJoin('threads', 'threads.id', 'messages.thread_id')
              .select(['messages.digest_id', 'threads.first_at'])
              .select((e) => e.fn.min('messages.thread_id').as('thread_id'))
              .where('messages.team_id', '=', teamId)
              .where('messages.digest_id', 'in', chunk)
              .where('threads.team_id', '=', teamId)
              .groupBy(['messages.digest_id', 'threads.key', 'threads.first_at'])
              .as('told'),
          )
          .select(['digest_id', 'thread_id'])
          .select([
            sql<number>`row_number() over (partition by digest_id order by first_at, thread_id)`.as('place'),
            sql<number>`count(*) over (partition by digest_id)`.as('count'),
          ])
          .as('ranked'),
      )
      .selectAll()
      .where('place', '<=', limit)
      .orderBy('digest_id')
      .orderBy('place')
      .execute();
    const ids = ranked.map(({ thread_id: id }) => id);
    const found = new Map((await selectThreads(db, teamId, ids)).map((thread) => [thread.id, thread]));
    for (const [id, own] of Map.groupBy(ranked, ({ digest_id: digest }) => digest!))
      digests.set(id, { threads: own.flatMap(({ thread_id: threadId }) => found.get(threadId) ?? []), count: own[0]!.count });
  }
  return digests;
}

/** Routers of agents or sites, also those that answer. */
export async function countRouters(
  db: DbOrTx,
  teamId: string,
  by: 'agent_id' | 'site_id',
  ids: readonly string[],
): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for (const chunk of inChunks([...new Set(ids)])) {
    const rows = await db
      .selectFrom('routers')
      .select(`${by} as id`)
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where('team_id', '=', teamId)
      .where(by, 'in', chunk)
      .where('removed_at', 'is', null)
      .groupBy(by)
      .execute();
    for (const { id, count } of rows) counts.set(id!, count);
  }
  return counts;
}

/** Targets of campaigns by status. */
export async function countTargets(
  db: DbOrTx,
  teamId: string,
  campaignIds: readonly string[],
): Promise<Map<string, Record<string, number>>> {
  const counts = new Map<string, Record<string, number>>();
  for (const chunk of inChunks([...new Set(campaignIds)])) {
    const rows = await db
      .selectFrom('campaign_targets')
      .select(['campaign_id', 'status'])
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where('team_id', '=', teamId)
      .where('campaign_id', 'in', chunk)
      .groupBy(['campaign_id', 'status'])
      .execute();
    for (const { campaign_id: id, status, count } of rows) counts.set(id, { ...counts.get(id), [status]: count });
  }
  return counts;
}

/** Null for one that is gone. */
export async function selectGroupName(db: DbOrTx, teamId: string, groupId: string): Promise<string | null> {
  const groups = db.selectFrom('notification_groups').select('name').where('team_id', '=', teamId).where('id', '=', groupId);
  return (await groups.executeTakeFirst())?.name ?? null;
}

/** Who has taken threads over: the email of a person, the name of a key or target, by id. Those that are gone are missing. */
export async function selectTakers(db: DbOrTx, teamId: string, threads: readonly Taken[]): Promise<Map<string, string>> {
  const idsOf = (wanted: string): string[] => [
    ...new Set(threads.filter(({ acknowledged_by_kind: kind }) => kind === wanted).flatMap(({ acknowledged_by: id }) => id ?? [])),
  ];
  const names = new Map<string, string>();
  for (const chunk of inChunks(idsOf('user'))) {
    const people = db
      .selectFrom('users')
      .innerJoin('members', 'members.user_id', 'users.id')
      .select(['users.id', 'users.email'])
      .where('members.team_id', '=', teamId)
      .where('users.id', 'in', chunk);
    for (const { id, email } of await people.execute()) names.set(id, email);
  }
  for (const [kind, table] of [
    ['api_key', 'api_keys'],
    ['target', 'notification_targets'],
  ] as const)
    for (const chunk of inChunks(idsOf(kind)))
      for (const { id, name } of await db
        .selectFrom(table)
        .select(['id', 'name'])
        .where('team_id', '=', teamId)
        .where('id', 'in', chunk)
        .execute())
        names.set(id, name);
  return names;
}

type Taken = Pick<ThreadRow, 'acknowledged_by' | 'acknowledged_by_kind'>;

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
