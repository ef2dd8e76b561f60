import { sql } from 'kysely';
import type { Selectable } from 'kysely';
import type { RouterFactsMessage } from '../../../protocol/index.ts';
import { versionKey } from '../../../routeros-text/versions.ts';
import { ofTeamByIds } from '../../platform/storage/by-ids.ts';
import { hasChanged, readChanged } from '../../platform/storage/changed-since.ts';
import type { ChangeMark } from '../../platform/storage/changed-since.ts';
import { countUpTo } from '../../platform/storage/count-up-to.ts';
import type { DbOrTx } from '../../platform/storage/db.ts';
import type { RouterPresenceTable } from '../../platform/storage/schema-routers.ts';
import { padded } from '../../platform/storage/padded.ts';
import type { ListedRouter, Presence, RouterRecord } from './types.ts';

/** Rows of one presence statement: 500 hold the event loop about 1 ms on SQLite (docs/decisions/0002-sqlite-first.md). */
export const PRESENCE_CHUNK = 500;

/** Also a removed router, but not a record that was merged into another. */
/** A router as a request names it. */
export interface RouterName {
  teamId: string;
  routerId: string;
}

/** Each of these routers if its team has it. In their order. */
export async function selectRoutersByIds(db: DbOrTx, wanted: readonly RouterName[]): Promise<(RouterRecord | undefined)[]> {
  const ids = new Set(wanted.map(({ routerId }) => routerId));
  const rows = await db
    .selectFrom('routers')
    .selectAll()
    .where('id', 'in', padded([...ids]))
    .where('merged_into', 'is', null)
    .execute();
  const found = new Map(rows.map((row) => [`${row.team_id} ${row.id}`, row]));
  return wanted.map(({ teamId, routerId }) => found.get(`${teamId} ${routerId}`));
}

/** Oldest first. */
export async function selectIdsOfIdentity(db: DbOrTx, teamId: string, identity: string, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('routers')
    .select('id')
    .where('team_id', '=', teamId)
    .where('identity', '=', identity)
    .where('removed_at', 'is', null)
    .orderBy('id')
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}

/** Routers of all teams (at most `limit`) that were stored before there were keys of versions. */
export async function selectWithoutVersionKey(db: DbOrTx, limit: number): Promise<Pick<RouterRecord, 'id' | 'software_version'>[]> {
  return db.selectFrom('routers').select(['id', 'software_version']).where('version_key', '=', '').limit(limit).execute();
}

export async function updateVersionKey(db: DbOrTx, ids: readonly string[], key: string): Promise<void> {
  await db.updateTable('routers').set({ version_key: key }).where('id', 'in', ids).execute();
}

/** Every router of every team that is not removed. */
export async function selectEveryRouter(db: DbOrTx): Promise<ListedRouter[]> {
  const columns = ['id', 'team_id', 'agent_id', 'identity', 'software_version', 'model', 'board_name', 'serial_number'] as const;
  return db.selectFrom('routers').select(columns).where('removed_at', 'is', null).execute();
}

/** Name in the agent's configuration to router id, for every router behind that agent. */
export async function selectRoutersOfAgent(db: DbOrTx, teamId: string, agentId: string): Promise<RouterRecord[]> {
  return db
    .selectFrom('routers')
    .selectAll()
    .where('team_id', '=', teamId)
    .where('agent_id', '=', agentId)
    .where('agent_router', '<>', '')
    .execute();
}

/** Every router that is not removed and that one of these agents was the last to have, by agent; also routers that have lost their name there. */
export async function selectRoutersOfAgents(db: DbOrTx, agentIds: readonly string[]): Promise<Map<string, RouterRecord[]>> {
  const rows = await db
    .selectFrom('routers')
    .selectAll()
    .where('agent_id', 'in', padded(agentIds))
    .where('removed_at', 'is', null)
    .execute();
  return Map.groupBy(rows, (router) => router.agent_id);
}

export async function isKnownRouter(db: DbOrTx, teamId: string, hardwareId: string): Promise<boolean> {
  const known = await db
    .selectFrom('routers')
    .select('id')
    .where('team_id', '=', teamId)
    .where('removed_at', 'is', null)
    .where('hardware_id', '=', hardwareId)
    .executeTakeFirst();
  return known !== undefined;
}

/** Counts no further than `most`. */
export function countRouters(db: DbOrTx, teamId: string, most: number): Promise<number> {
  return countUpTo(db, db.selectFrom('routers').select('id').where('team_id', '=', teamId).where('removed_at', 'is', null), most);
}

export interface RouterSighting {
  newId: string;
  teamId: string;
  agentId: string;
  agentEntry: string;
  facts: RouterFactsMessage;
  now: number;
  /** The known router, when its hardware id was spelt differently before. */
  routerId?: string;
}

/** Another device answers under this name: takes the name from the router that had it. */
export async function releaseName(
  db: DbOrTx,
  { teamId, agentId, agentEntry, facts, now }: Omit<RouterSighting, 'newId' | 'routerId'>,
): Promise<void> {
  await db
    .updateTable('routers')
    .set({ agent_router: '', updated_at: now })
    .where('team_id', '=', teamId)
    .where('agent_id', '=', agentId)
    .where('agent_router', '=', agentEntry)
    .where('hardware_id', '<>', facts.hardware_id)
    .execute();
}

/**
 * Stores the router behind a name of an agent. The same hardware keeps its id, whichever agent reports it;
 * another device under a used name becomes a router of its own, and the former router loses the name.
 */
export async function upsertRouter(db: DbOrTx, sighting: RouterSighting): Promise<RouterRecord> {
  const { teamId, agentId, agentEntry, facts, now } = sighting;
  await releaseName(db, sighting);
  if (sighting.routerId !== undefined) {
    await db
      .updateTable('routers')
      .set({ hardware_id: facts.hardware_id })
      .where('team_id', '=', teamId)
      .where('id', '=', sighting.routerId)
      .execute();
  }
  const agent = await db.selectFrom('agents').select('site_id').where('team_id', '=', teamId).where('id', '=', agentId).executeTakeFirst();
  const current = { agent_id: agentId, agent_router: agentEntry, ...columnsOf(facts), updated_at: now };
  return db
    .insertInto('routers')
    .values({
      id: sighting.newId,
      team_id: teamId,
      site_id: agent?.site_id ?? null,
      hardware_id: facts.hardware_id,
      created_at: now,
      ...current,
    })
    .onConflict((conflict) => conflict.columns(['team_id', 'hardware_id']).where('removed_at', 'is', null).doUpdateSet(current))
    .returningAll()
    .executeTakeFirstOrThrow();
}

/**
 * Stores routers that were not known, at the sites of their agents. @param sightings of one team and of different hardware
 * @returns the new routers; a router that another transaction has brought meanwhile is missing
 */
export async function insertNewRouters(db: DbOrTx, sightings: readonly RouterSighting[]): Promise<RouterRecord[]> {
  const [{ teamId } = { teamId: '' }] = sightings;
  const agents = await db
    .selectFrom('agents')
    .select(['id', 'site_id'])
    .$call(ofTeamByIds(teamId, padded(sightings.map(({ agentId }) => agentId))))
    .execute();
  const sites = new Map(agents.map(({ id, site_id: siteId }) => [id, siteId]));
  return db
    .insertInto('routers')
    .values(
      sightings.map(({ newId, agentId, agentEntry, facts, now }) => ({
        id: newId,
        team_id: teamId,
        site_id: sites.get(agentId) ?? null,
        hardware_id: facts.hardware_id,
        created_at: now,
        agent_id: agentId,
        agent_router: agentEntry,
        ...columnsOf(facts),
        updated_at: now,
      })),
    )
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .execute();
}

function columnsOf(facts: RouterFactsMessage) {
  return {
    serial_number: facts.serial_number,
    software_id: facts.software_id,
    identity: facts.identity,
    software_version: facts.software_version,
    version_key: versionKey(facts.software_version),
    model: facts.model,
    board_name: facts.board_name,
    hardware_board: facts.hardware_board ? (1 as const) : (0 as const),
    architecture: facts.architecture,
    time_zone: facts.time_zone,
    terminal_levels: facts.terminal_levels?.join(',') ?? null,
  };
}

/** Whether these facts are those that are stored. */
export function isAsStored(router: RouterRecord, facts: RouterFactsMessage): boolean {
  const columns = Object.entries(columnsOf(facts)) as [keyof ReturnType<typeof columnsOf>, unknown][];
  return router.hardware_id === facts.hardware_id && columns.every(([column, value]) => router[column] === value);
}

/** Presence of all teams' routers, read once at start. */
export async function selectAllPresence(db: DbOrTx): Promise<Map<string, Presence>> {
  const rows = await db.selectFrom('router_presence').selectAll().execute();
  return new Map(rows.map((row) => [row.router_id, toPresence(row)]));
}

function toPresence(row: Selectable<RouterPresenceTable>): Presence {
  return {
    reachable: row.reachable === 1,
    uptimeSeconds: row.uptime_seconds,
    lastSeenAt: row.last_seen_at,
    lastSeenFrom: row.last_seen_from,
  };
}

/** Whether {@link selectChangedPresence} would find any. */
export const HAS_PRESENCE_CHANGED = hasChanged('router_presence');

/** Presence that was stored since then, of routers of all teams. */
export async function selectChangedPresence(
  db: DbOrTx,
  mark: ChangeMark,
): Promise<{ presence: { routerId: string; presence: Presence }[]; mark: ChangeMark }> {
  const { rows, mark: next } = await readChanged(
    db,
    mark,
    (isChanged) => sql<Selectable<RouterPresenceTable> & { id: string }>`
      select router_id as id, router_presence.* from router_presence where ${isChanged('router_presence')}`,
  );
  return { presence: rows.map((row) => ({ routerId: row.router_id, presence: toPresence(row) })), mark: next };
}

/** @param isShared another control plane may have heard of the router later: then its presence stays */
export async function upsertPresence(
  db: DbOrTx,
  chunk: readonly { routerId: string; presence: Presence }[],
  isShared = false,
): Promise<void> {
  await db
    .insertInto('router_presence')
    .values(
      chunk.map(({ routerId, presence }) => ({
        router_id: routerId,
        reachable: presence.reachable ? (1 as const) : (0 as const),
        uptime_seconds: presence.uptimeSeconds,
        last_seen_at: presence.lastSeenAt,
        last_seen_from: presence.lastSeenFrom,
      })),
    )
    .onConflict((conflict) =>
      conflict
        .column('router_id')
        .doUpdateSet((eb) => ({
          reachable: eb.ref('excluded.reachable'),
          uptime_seconds: eb.ref('excluded.uptime_seconds'),
          last_seen_at: eb.ref('excluded.last_seen_at'),
          last_seen_from: eb.ref('excluded.last_seen_from'),
        }))
        .$call((update) =>
          isShared
            ? update.where((eb) =>
                eb.or([
                  eb('router_presence.last_seen_at', 'is', null),
                  eb('excluded.last_seen_at', '>=', eb.ref('router_presence.last_seen_at')),
                ]),
              )
            : update,
        ),
    )
    .execute();
}
