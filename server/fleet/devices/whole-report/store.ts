import { ofTeamByIds } from '../../../platform/storage/by-ids.ts';
import { inChunks } from '../../../platform/storage/columns.ts';
import type { DbOrTx } from '../../../platform/storage/db.ts';
import { padded } from '../../../platform/storage/padded.ts';
import { scopeId } from '../store.ts';
import type { SightedDevice } from '../store.ts';
import type { DeviceScope } from '../types.ts';

export { isContended } from '../../../platform/storage/storage-errors.ts';

/**
 * A report of all devices that comes in one message, as nearly all do. Agents repeat it whenever they connect, and hardly anything has changed:
 * it is compared with what is stored, and only the differences are written.
 */

export interface Differences {
  /** Devices to store: new ones, and those that are no longer as they were. */
  changed: SightedDevice[];
  /** Ids of devices that were present and are not reported. */
  gone: string[];
}

/** A report of all devices of a router. */
export interface WholeReport {
  teamId: string;
  routerId: string;
  /** One entry for each MAC address. */
  sighted: readonly SightedDevice[];
}

interface Present {
  id: string;
  mac: string;
  place: string;
  hostname: string | null;
  manufacturer: string | null;
  ip_address: string | null;
  interface: string | null;
  present: 0 | 1 | 2;
}

/** @param sighted one entry for each MAC address */
export async function compareWithStored(db: DbOrTx, scope: DeviceScope, sighted: readonly SightedDevice[]): Promise<Differences> {
  return differences(scope, await selectPresent(db, scope.teamId, [scope.routerId]), sighted);
}

/**
 * Those of these reports that say what is stored, of a team and of different routers. A router whose devices have to follow it into its site
 * is not among them, nor one that the team does not have. @param most rows to read: with more, none is found
 */
export async function selectUnchanged(db: DbOrTx, teamId: string, reports: readonly WholeReport[], most: number): Promise<WholeReport[]> {
  const ids = reports.map(({ routerId }) => routerId);
  const routers = await db
    .selectFrom('routers')
    .select(['id', 'site_id'])
    .$call(ofTeamByIds(teamId, padded(ids)))
    .where('removed_at', 'is', null)
    .execute();
  const behindThemselves = await selectPlaces(
    db,
    teamId,
    routers.filter(({ site_id: siteId }) => siteId !== null).map(({ id }) => id),
  );
  const sites = new Map(routers.filter(({ id }) => !behindThemselves.has(id)).map(({ id, site_id: siteId }) => [id, siteId]));
  const present = await selectPresent(db, teamId, ids, most + 1);
  if (present.length > most) return [];
  const byRouter = Map.groupBy(present, ({ router_id: routerId }) => routerId);
  return reports.filter(({ routerId, sighted }) => {
    const siteId = sites.get(routerId);
    if (siteId === undefined) return false;
    const { changed, gone } = differences({ teamId, routerId, siteId }, byRouter.get(routerId) ?? [], sighted);
    return changed.length === 0 && gone.length === 0;
  });
}

/**
 * Where those of these routers of a team stand that have seen no device yet, and behind which none is known: what they report is simply new.
 * Routers that the team does not have are missing.
 */
export async function selectUnseen(db: DbOrTx, teamId: string, routerIds: readonly string[]): Promise<Map<string, DeviceScope>> {
  const rows = await db
    .selectFrom('routers')
    .select(['id', 'site_id'])
    .$call(ofTeamByIds(teamId, padded(routerIds)))
    .where('removed_at', 'is', null)
    .where((router) =>
      router.not(router.exists(router.selectFrom('device_sightings').select('device_id').whereRef('router_id', '=', 'routers.id'))),
    )
    .where((router) =>
      router.not(
        router.exists(
          router
            .selectFrom('devices')
            .select('devices.id')
            .where('devices.team_id', '=', teamId)
            .whereRef('devices.place', '=', 'routers.id'),
        ),
      ),
    )
    .execute();
  return new Map(rows.map(({ id, site_id: siteId }) => [id, { teamId, routerId: id, siteId }]));
}

/** Those of these places that have devices. */
async function selectPlaces(db: DbOrTx, teamId: string, places: readonly string[]): Promise<Set<string>> {
  if (places.length === 0) return new Set();
  const rows = await db
    .selectFrom('devices')
    .select('place')
    .distinct()
    .where('team_id', '=', teamId)
    .where('place', 'in', padded(places))
    .execute();
  return new Set(rows.map(({ place }) => place));
}

/** The devices that these routers of a team saw last. */
function selectPresent(
  db: DbOrTx,
  teamId: string,
  routerIds: readonly string[],
  most?: number,
): Promise<(Present & { router_id: string })[]> {
  return db
    .selectFrom('device_sightings')
    .innerJoin('devices', 'devices.id', 'device_sightings.device_id')
    .select(['devices.id', 'devices.mac', 'devices.place', 'devices.hostname', 'devices.manufacturer'])
    .select(['device_sightings.router_id', 'device_sightings.ip_address', 'device_sightings.interface', 'device_sightings.present'])
    .$call(ofTeamByIds(teamId, padded(routerIds), { id: 'device_sightings.router_id', team: 'devices.team_id' }))
    .where('device_sightings.present', '<>', 0)
    .$if(most !== undefined, (query) => query.limit(most!))
    .execute();
}

function differences(scope: DeviceScope, present: readonly Present[], sighted: readonly SightedDevice[]): Differences {
  // Of a router that has moved to another site, the devices of the former site are gone.
  const here = new Map(present.filter(({ place }) => place === scopeId(scope)).map((device) => [device.mac, device]));
  const reported = new Set(sighted.map(({ mac }) => mac));
  return {
    changed: sighted.filter((device) => !isAsStored(device, here.get(device.mac))),
    gone: present.filter(({ id, mac }) => !reported.has(mac) || here.get(mac)?.id !== id).map(({ id }) => id),
  };
}

/** A lease has no interface, and one that has ended no host name: what is known stays. */
function isAsStored(device: SightedDevice, stored: Present | undefined): boolean {
  if (stored?.present !== 1 || !device.present) return false;
  return (
    device.ipAddress === stored.ip_address &&
    device.manufacturer === stored.manufacturer &&
    (device.interface === null || device.interface === stored.interface) &&
    (device.hostname === null || device.hostname === stored.hostname)
  );
}

/** These devices of a router left some time after its last report. */
export async function markUnreported(db: DbOrTx, { routerId }: DeviceScope, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  const report = await db.selectFrom('device_reports').select('confirmed_at').where('router_id', '=', routerId).executeTakeFirst();
  const confirmedAt = report?.confirmed_at ?? 0;
  for (const chunk of inChunks(ids))
    await db
      .updateTable('device_sightings')
      .set((eb) => ({
        present: 0,
        last_seen_at: eb.case().when('last_seen_at', '>', confirmedAt).then(eb.ref('last_seen_at')).else(eb.val(confirmedAt)).end(),
      }))
      .where('router_id', '=', routerId)
      .where('device_id', 'in', chunk)
      .execute();
}
