import { sql } from 'kysely';
import type { ExpressionBuilder, SqlBool } from 'kysely';
import { inFewSizes } from '../../platform/core/few-sizes.ts';
import { idFloor } from '../../platform/core/ids.ts';
import { countUpTo } from '../../platform/storage/count-up-to.ts';
import type { DbOrTx } from '../../platform/storage/db.ts';
import type { Schema } from '../../platform/storage/schema.ts';
import { keyOf, onceAPlace, scopeId } from './seen.ts';
import type { Seen, SightedDevice } from './seen.ts';
import type { DeviceScope } from './types.ts';

export { scopeId } from './seen.ts';
export type { SightedDevice } from './seen.ts';

/** Confirmations of one statement: half a millisecond on SQLite. */
const MOST_CONFIRMED = 512;

/** Stores reports of routers and deletes old devices. The queries for callers are in list/store.ts. */

/** The scope of a router's sightings. @throws Kysely's NoResultError when the team has no such router */
export async function selectDeviceScope(db: DbOrTx, teamId: string, routerId: string): Promise<DeviceScope> {
  const { site_id: siteId } = await db
    .selectFrom('routers')
    .select('site_id')
    .where('team_id', '=', teamId)
    .where('id', '=', routerId)
    .where('removed_at', 'is', null)
    .executeTakeFirstOrThrow();
  return { teamId, routerId, siteId };
}

/** Counts no further than `most`. */
export function countDevices(db: DbOrTx, teamId: string, most: number): Promise<number> {
  return countUpTo(db, db.selectFrom('devices').select('id').where('team_id', '=', teamId), most);
}

/** A device in the order of their first sightings. */
export interface DevicePosition {
  at: number;
  id: string;
}

/** The `step`th device of a team behind a position; undefined when there are fewer. */
export async function selectNthDevice(
  db: DbOrTx,
  teamId: string,
  { behind, step }: { behind: DevicePosition | undefined; step: number },
): Promise<DevicePosition | undefined> {
  let rest = db.selectFrom('devices').select(['first_seen_at as at', 'id']).where('team_id', '=', teamId);
  if (behind) rest = rest.where(sql<SqlBool>`(first_seen_at, id) > (${behind.at}, ${behind.id})`);
  return rest
    .orderBy('first_seen_at')
    .orderBy('id')
    .offset(step - 1)
    .limit(1)
    .executeTakeFirst();
}

/** Devices of a team behind a position, no further than `most`. */
export function countDevicesBehind(db: DbOrTx, teamId: string, behind: DevicePosition | undefined, most: number): Promise<number> {
  const all = db.selectFrom('devices').select('id').where('team_id', '=', teamId);
  return countUpTo(db, behind ? all.where(sql<SqlBool>`(first_seen_at, id) > (${behind.at}, ${behind.id})`) : all, most);
}

/** Counts no further than `most`. */
export function countSightings(db: DbOrTx, routerId: string, most: number): Promise<number> {
  return countUpTo(db, db.selectFrom('device_sightings').select('device_id').where('router_id', '=', routerId), most);
}

/** Those of these MAC addresses that are known in this scope. At most 500 at once. */
export async function selectKnownMacs(db: DbOrTx, scope: DeviceScope, macs: readonly string[]): Promise<Set<string>> {
  const rows = await db
    .selectFrom('devices')
    .select('mac')
    .where('team_id', '=', scope.teamId)
    .where('place', '=', scopeId(scope))
    .where('mac', 'in', macs)
    .execute();
  return new Set(rows.map(({ mac }) => mac));
}

/** What one router sees. */
export interface RouterSightings {
  scope: DeviceScope;
  /** One entry for each MAC address. */
  sighted: readonly SightedDevice[];
}

/**
 * Stores sightings. A known device keeps its id and first-seen time. At most 500 at once.
 * @returns how many devices are new
 */
export async function upsertSighted(db: DbOrTx, scope: DeviceScope, sighted: readonly SightedDevice[], now: number): Promise<number> {
  return (await upsertSightedOf(db, [{ scope, sighted }], now)).size;
}

/** Stores what several routers of a team see, as {@link upsertSighted} one after the other. @returns the ids of the devices that are new */
export async function upsertSightedOf(db: DbOrTx, reports: readonly RouterSightings[], now: number): Promise<Set<string>> {
  const seen = reports.flatMap(({ scope, sighted }) => sighted.map((device) => ({ scope, device })));
  if (seen.length === 0) return new Set();
  const once = onceAPlace(seen);
  const rows = await db
    .insertInto('devices')
    .values(
      once.map(({ scope, device }) => ({
        id: device.newId,
        team_id: scope.teamId,
        place: scopeId(scope),
        site_id: scope.siteId,
        mac: device.mac,
        hostname: device.hostname,
        manufacturer: device.manufacturer,
        first_seen_at: device.seenAt,
      })),
    )
    .onConflict((conflict) =>
      conflict.columns(['team_id', 'place', 'mac']).doUpdateSet((eb) => ({
        // A lease that ends takes the host name with it; the device keeps it.
        hostname: eb.fn.coalesce('excluded.hostname', 'devices.hostname'),
        manufacturer: eb.ref('excluded.manufacturer'),
      })),
    )
    .returning(['id', 'place', 'mac'])
    .execute();
  await upsertSightings(db, seen, new Map(rows.map((row) => [keyOf(row.place, row.mac), row.id])), now);
  const offered = new Set(once.map(({ device }) => device.newId));
  return new Set(rows.map(({ id }) => id).filter((id) => offered.has(id)));
}

async function upsertSightings(db: DbOrTx, seen: readonly Seen[], ids: ReadonlyMap<string, string>, now: number): Promise<void> {
  await db
    .insertInto('device_sightings')
    .values(
      seen.map(({ scope, device }) => ({
        device_id: ids.get(keyOf(scopeId(scope), device.mac))!,
        router_id: scope.routerId,
        ip_address: device.ipAddress,
        interface: device.interface,
        ip_first_seen_at: device.seenAt,
        last_seen_at: device.seenAt,
        present: device.present ? (1 as const) : (0 as const),
      })),
    )
    .onConflict((conflict) =>
      conflict.columns(['device_id', 'router_id']).doUpdateSet((eb) => ({
        ip_address: eb.ref('excluded.ip_address'),
        // A lease has no interface; keep the known one.
        interface: eb.fn.coalesce('excluded.interface', 'device_sightings.interface'),
        ip_first_seen_at: eb
          .case()
          .when('device_sightings.ip_address', '=', eb.ref('excluded.ip_address'))
          .then(eb.ref('device_sightings.ip_first_seen_at'))
          .else(eb.ref('excluded.ip_first_seen_at'))
          .end(),
        last_seen_at: eb
          .case()
          // It was present until now, and only its lease remains.
          .when(eb.and([eb('device_sightings.present', '=', 1), eb('excluded.present', '=', 0)]))
          .then(eb.val(now))
          .when('device_sightings.last_seen_at', '>', eb.ref('excluded.last_seen_at'))
          .then(eb.ref('device_sightings.last_seen_at'))
          .else(eb.ref('excluded.last_seen_at'))
          .end(),
        present: eb.ref('excluded.present'),
      })),
    )
    .execute();
}

/** These devices are no longer present, as of now. */
export async function markGone(db: DbOrTx, scope: DeviceScope, macs: readonly string[], now: number): Promise<void> {
  if (macs.length === 0) return;
  await db
    .updateTable('device_sightings')
    .set({ present: 0, last_seen_at: now })
    .where('router_id', '=', scope.routerId)
    .where('present', '<>', 0)
    .where('device_id', 'in', (eb) =>
      eb
        .selectFrom('devices')
        .select('id')
        .where('team_id', '=', scope.teamId)
        .where('place', '=', scopeId(scope))
        .where('mac', 'in', macs),
    )
    .execute();
}

/** A full report begins: it has to confirm every device that was present. */
export async function beginReport(db: DbOrTx, scope: DeviceScope): Promise<void> {
  await adoptFromRouter(db, scope);
  await db.updateTable('device_sightings').set({ present: 2 }).where('router_id', '=', scope.routerId).where('present', '=', 1).execute();
}

/** A router that moved into a site takes its devices with it. */
export async function adoptFromRouter(db: DbOrTx, { teamId, routerId, siteId }: DeviceScope): Promise<void> {
  if (siteId === null) return;
  await db
    .updateTable('devices')
    .set({ place: siteId, site_id: siteId })
    .where('team_id', '=', teamId)
    .where('place', '=', routerId)
    .where('mac', 'not in', (eb) =>
      eb.selectFrom('devices as there').select('there.mac').where('team_id', '=', teamId).where('place', '=', siteId),
    )
    .execute();
  // The site knows these already.
  await db.deleteFrom('devices').where('team_id', '=', teamId).where('place', '=', routerId).execute();
}

/**
 * The report has ended: devices that it did not confirm left some time after the last confirmation. If a part of it was
 * lost (`complete` false), all devices count as still present.
 */
export async function endReport(db: DbOrTx, scope: DeviceScope, complete: boolean): Promise<void> {
  const unconfirmed = db.updateTable('device_sightings').where('router_id', '=', scope.routerId).where('present', '=', 2);
  if (!complete) {
    await unconfirmed.set({ present: 1 }).execute();
    return;
  }
  const report = await db.selectFrom('device_reports').select('confirmed_at').where('router_id', '=', scope.routerId).executeTakeFirst();
  const confirmedAt = report?.confirmed_at ?? 0;
  await unconfirmed
    .set((eb) => ({
      present: 0,
      last_seen_at: eb.case().when('last_seen_at', '>', confirmedAt).then(eb.ref('last_seen_at')).else(eb.val(confirmedAt)).end(),
    }))
    .execute();
}

/** The last reports of these routers, each named once, still held at these times. */
export async function confirmReports(db: DbOrTx, confirmed: readonly { routerId: string; at: number }[]): Promise<void> {
  // In one order, so that no two transactions wait for each other's rows.
  const inOrder = confirmed.toSorted((a, b) => (a.routerId < b.routerId ? -1 : 1));
  for (const chunk of inFewSizes(inOrder, MOST_CONFIRMED)) {
    await db
      .insertInto('device_reports')
      .values(chunk.map(({ routerId, at }) => ({ router_id: routerId, confirmed_at: at })))
      .onConflict((conflict) => conflict.column('router_id').doUpdateSet((eb) => ({ confirmed_at: eb.ref('excluded.confirmed_at') })))
      .execute();
  }
}

/** The devices to look at: how many, behind which one in the order of their ids. */
interface Look {
  before: number;
  after: string;
  limit: number;
}

/** Looks at some devices of all teams that were first seen before `before`, and deletes those without an alias and without a sighting since. */
export async function deleteForgotten(db: DbOrTx, { before, after, limit }: Look): Promise<{ count: number; last: string | undefined }> {
  // Ids begin with the time at which a device was stored, which is never before it was first seen.
  const looked = await db
    .selectFrom('devices')
    .select('id')
    .where('id', '>', after)
    .where('id', '<', idFloor(Math.max(0, before)))
    .orderBy('id')
    .limit(limit)
    .execute();
  const ids = looked.map(({ id }) => id);
  if (ids.length > 0)
    await db
      .deleteFrom('devices')
      .where('id', 'in', ids)
      .where((device) => device.not(device.exists(aliasOf(device))))
      .where((device) => device.not(device.exists(recentSightingOf(device, before))))
      .execute();
  return { count: looked.length, last: ids.at(-1) };
}

/** An alias in the order of the primary key. */
interface AliasKey {
  teamId: string;
  mac: string;
}

/** Looks at some aliases behind `after`, and deletes those that were set before `before` and whose device is gone. */
export async function deleteLostAliases(
  db: DbOrTx,
  { before, after, limit }: { before: number; after: AliasKey; limit: number },
): Promise<{ count: number; last: AliasKey | undefined }> {
  const looked = await db
    .selectFrom('device_aliases')
    .select(['team_id as teamId', 'mac'])
    .select((alias) =>
      alias
        .exists(
          alias
            .selectFrom('devices')
            .select('devices.id')
            .whereRef('devices.team_id', '=', 'device_aliases.team_id')
            .whereRef('devices.mac', '=', 'device_aliases.mac'),
        )
        .as('isUsed'),
    )
    .where(sql<SqlBool>`(team_id, mac) > (${after.teamId}, ${after.mac})`)
    .orderBy('team_id')
    .orderBy('mac')
    .limit(limit)
    .execute();
  for (const { teamId, mac, isUsed } of looked) {
    if (isUsed) continue;
    await db.deleteFrom('device_aliases').where('team_id', '=', teamId).where('mac', '=', mac).where('updated_at', '<', before).execute();
  }
  return { count: looked.length, last: looked.at(-1) };
}

type OldDevice = ExpressionBuilder<Schema, 'devices'>;

function aliasOf(old: OldDevice) {
  return old
    .selectFrom('device_aliases')
    .select('device_aliases.mac')
    .whereRef('device_aliases.team_id', '=', 'devices.team_id')
    .whereRef('device_aliases.mac', '=', 'devices.mac');
}

function recentSightingOf(old: OldDevice, since: number) {
  return old
    .selectFrom('device_sightings')
    .select('device_id')
    .whereRef('device_id', '=', 'devices.id')
    .where((seen) => seen.or([seen('present', '<>', 0), seen('last_seen_at', '>=', since)]));
}
