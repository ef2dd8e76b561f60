import type { Selectable } from 'kysely';
import type { Page } from '../../platform/core/page.ts';
import { inChunks } from '../../platform/storage/columns.ts';
import { countUpTo } from '../../platform/storage/count-up-to.ts';
import type { DbOrTx, Tx } from '../../platform/storage/db.ts';
import { newestFirst } from '../../platform/storage/paging.ts';
import type { SitesTable } from '../../platform/storage/schema-teams.ts';
import { clearSiteOfRevoked } from '../agents/service.ts';
import type { Site } from './types.ts';

export { isForeignKey, isUnique } from '../../platform/storage/storage-errors.ts';
export { lockTeam } from '../../platform/storage/team-lock.ts';

function toSite(row: Selectable<SitesTable>): Site {
  return {
    id: row.id,
    teamId: row.team_id,
    name: row.name,
    timeZone: row.time_zone,
    latitude: row.latitude,
    longitude: row.longitude,
    createdAt: row.created_at,
  };
}

/** Number of sites, counted up to `most`. */
export async function countSites(db: DbOrTx, teamId: string, most: number): Promise<number> {
  return countUpTo(db, db.selectFrom('sites').select('id').where('team_id', '=', teamId), most);
}

export async function insertSite(db: DbOrTx, site: Site): Promise<void> {
  await db
    .insertInto('sites')
    .values({
      id: site.id,
      team_id: site.teamId,
      name: site.name,
      time_zone: site.timeZone,
      latitude: site.latitude,
      longitude: site.longitude,
      created_at: site.createdAt,
    })
    .execute();
}

export async function selectSite(db: DbOrTx, teamId: string, idOrName: string): Promise<Site | undefined> {
  const row = await db
    .selectFrom('sites')
    .selectAll()
    .where('team_id', '=', teamId)
    .where((eb) => eb.or([eb('id', '=', idOrName), eb('name', '=', idOrName)]))
    .executeTakeFirst();
  return row && toSite(row);
}

export async function selectSiteById(db: DbOrTx, teamId: string, siteId: string): Promise<Site | undefined> {
  const row = await db.selectFrom('sites').selectAll().where('team_id', '=', teamId).where('id', '=', siteId).executeTakeFirst();
  return row && toSite(row);
}

/** Newest first. */
export async function selectSites(db: DbOrTx, teamId: string, page: Page): Promise<Site[]> {
  const rows = await db.selectFrom('sites').selectAll().where('team_id', '=', teamId).$call(newestFirst(page)).execute();
  return rows.map(toSite);
}

/** @throws a unique violation when another site of the team has this name */
export async function updateSite(db: DbOrTx, site: Site): Promise<void> {
  await db
    .updateTable('sites')
    .set({ name: site.name, time_zone: site.timeZone, latitude: site.latitude, longitude: site.longitude })
    .where('team_id', '=', site.teamId)
    .where('id', '=', site.id)
    .execute();
}

/** Number of routers in the site, and of agents that are not revoked. */
export async function countAtSite(db: DbOrTx, teamId: string, siteId: string): Promise<{ routers: number; agents: number }> {
  return db
    .selectNoFrom((eb) => [
      eb
        .selectFrom('routers')
        .select((count) => count.fn.countAll<number>().as('count'))
        .where('team_id', '=', teamId)
        .where('site_id', '=', siteId)
        .$asScalar()
        .$notNull()
        .as('routers'),
      eb
        .selectFrom('agents')
        .select((count) => count.fn.countAll<number>().as('count'))
        .where('team_id', '=', teamId)
        .where('site_id', '=', siteId)
        .where('revoked_at', 'is', null)
        .$asScalar()
        .$notNull()
        .as('agents'),
    ])
    .executeTakeFirstOrThrow();
}

/** Deletes devices (at most `limit`) that were seen at a site. @returns the number deleted */
export async function deleteDevicesAt(
  tx: Tx,
  { teamId, siteId, limit }: { teamId: string; siteId: string; limit: number },
): Promise<number> {
  const some = tx
    .selectFrom('devices as old')
    .select('old.id')
    .where('old.team_id', '=', teamId)
    .where('old.site_id', '=', siteId)
    .limit(limit);
  const { numDeletedRows } = await tx.deleteFrom('devices').where('team_id', '=', teamId).where('id', 'in', some).executeTakeFirst();
  return Number(numDeletedRows);
}

/**
 * Removes an empty site with its remaining records: devices once seen there, and enrolment tokens for
 * agents there.
 * @throws a foreign key violation when a router or agent has just moved in
 */
export async function deleteSite(tx: Tx, teamId: string, siteId: string): Promise<void> {
  const here = { team_id: teamId, site_id: siteId };
  const unused = tx.deleteFrom('enrol_tokens').where('used_at', 'is', null);
  await unused.where((eb) => eb.and(here)).execute();
  await tx
    .updateTable('enrol_tokens')
    .set({ site_id: null })
    .where((eb) => eb.and(here))
    .execute();
  await clearSiteOfRevoked(tx, teamId, siteId);
  await tx
    .deleteFrom('devices')
    .where((eb) => eb.and(here))
    .execute();
  await tx.deleteFrom('sites').where('team_id', '=', teamId).where('id', '=', siteId).execute();
}

export async function siteExists(db: DbOrTx, teamId: string, siteId: string): Promise<boolean> {
  const row = await db.selectFrom('sites').select('id').where('team_id', '=', teamId).where('id', '=', siteId).executeTakeFirst();
  return row !== undefined;
}

/** Routers of an agent at this site, or without a site. */
export async function selectRoutersAt(db: DbOrTx, teamId: string, agentId: string, siteId: string | null): Promise<string[]> {
  const behind = db
    .selectFrom('routers')
    .select('id')
    .where('team_id', '=', teamId)
    .where('agent_id', '=', agentId)
    .where('removed_at', 'is', null);
  const rows = await (siteId === null ? behind.where('site_id', 'is', null) : behind.where('site_id', '=', siteId)).execute();
  return rows.map(({ id }) => id);
}

export interface Move {
  teamId: string;
  routerId: string;
  siteId: string | null;
  now: number;
  newId: () => string;
}

/**
 * Moves a router and the devices behind it to another site, or to none.
 * @returns false when the team has no such router
 * @throws a foreign key violation when the site has just been deleted
 */
export async function moveRouter(tx: Tx, move: Move): Promise<boolean> {
  const { teamId, routerId, siteId, now } = move;
  // The update locks the row, so that two moves of one router are serialised on PostgreSQL too.
  const router = await tx
    .updateTable('routers')
    .set((eb) => ({ site_id: eb.ref('site_id') }))
    .where('team_id', '=', teamId)
    .where('id', '=', routerId)
    .where('removed_at', 'is', null)
    .returning('site_id')
    .executeTakeFirst();
  if (!router) return false;
  if (router.site_id === siteId) return true;
  await moveDevices(tx, move, { from: router.site_id ?? routerId, to: siteId ?? routerId });
  await tx
    .updateTable('routers')
    .set({ site_id: siteId, updated_at: now })
    .where('team_id', '=', teamId)
    .where('id', '=', routerId)
    .execute();
  return true;
}

/** Scopes of devices (`place`): a site, or a router without a site. */
interface Way {
  from: string;
  to: string;
}

/** Devices that only this router sees move with it; those that other routers also see are then known in both scopes. */
async function moveDevices(tx: Tx, move: Move, way: Way): Promise<void> {
  const { teamId, routerId, siteId } = move;
  await tx
    .updateTable('devices')
    .set({ place: way.to, site_id: siteId })
    .where('team_id', '=', teamId)
    .where('place', '=', way.from)
    .where('id', 'in', (eb) => eb.selectFrom('device_sightings').select('device_id').where('router_id', '=', routerId))
    .where((eb) =>
      eb.not(
        eb.exists(
          // Correlated, so that a move does not read all sightings of all teams.
          eb
            .selectFrom('device_sightings as seen')
            .select('seen.device_id')
            .whereRef('seen.device_id', '=', 'devices.id')
            .where('seen.router_id', '<>', routerId),
        ),
      ),
    )
    .where('mac', 'not in', (eb) =>
      eb.selectFrom('devices as there').select('there.mac').where('team_id', '=', teamId).where('place', '=', way.to),
    )
    .execute();
  const shared = await tx
    .selectFrom('devices')
    .select(['id', 'mac', 'hostname', 'manufacturer', 'first_seen_at'])
    .where('team_id', '=', teamId)
    .where('place', '=', way.from)
    .where('id', 'in', (eb) => eb.selectFrom('device_sightings').select('device_id').where('router_id', '=', routerId))
    .execute();
  for (const chunk of inChunks(shared)) {
    const copies = chunk.map((device) => ({ ...device, id: move.newId(), team_id: teamId, place: way.to, site_id: siteId }));
    await tx
      .insertInto('devices')
      .values(copies)
      .onConflict((conflict) => conflict.columns(['team_id', 'place', 'mac']).doNothing())
      .execute();
    await moveSightings(
      tx,
      move,
      way,
      chunk.map(({ id }) => id),
    );
  }
}

/** Moves the router's sightings of these devices to the records with the same MAC address in the new scope. */
async function moveSightings(tx: Tx, { teamId, routerId }: Move, way: Way, deviceIds: string[]): Promise<void> {
  // A report in progress during an earlier move may have left some there already.
  await tx
    .deleteFrom('device_sightings')
    .where('router_id', '=', routerId)
    .where('device_id', 'in', (eb) =>
      eb
        .selectFrom('devices as there')
        .select('there.id')
        .where('there.team_id', '=', teamId)
        .where('there.place', '=', way.to)
        .where('there.mac', 'in', (inner) => inner.selectFrom('devices as here').select('here.mac').where('here.id', 'in', deviceIds)),
    )
    .execute();
  await tx
    .updateTable('device_sightings')
    .set((eb) => ({
      device_id: eb
        .selectFrom('devices as there')
        .innerJoin('devices as here', 'here.mac', 'there.mac')
        .select('there.id')
        .where('there.team_id', '=', teamId)
        .where('there.place', '=', way.to)
        .whereRef('here.id', '=', 'device_sightings.device_id')
        .$asScalar()
        .$notNull(),
    }))
    .where('router_id', '=', routerId)
    .where('device_id', 'in', deviceIds)
    .execute();
  await tx
    .deleteFrom('devices')
    .where('id', 'in', deviceIds)
    .where('id', 'not in', (eb) => eb.selectFrom('device_sightings').select('device_id').where('device_id', 'in', deviceIds))
    .execute();
}
