import { inChunks } from '../../../platform/storage/columns.ts';
import type { DbOrTx } from '../../../platform/storage/db.ts';
import { scopeId } from '../store.ts';
import type { SightedDevice } from '../store.ts';
import type { DeviceScope } from '../types.ts';

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
  const present: Present[] = await db
    .selectFrom('device_sightings')
    .innerJoin('devices', 'devices.id', 'device_sightings.device_id')
    .select(['devices.id', 'devices.mac', 'devices.place', 'devices.hostname', 'devices.manufacturer'])
    .select(['device_sightings.ip_address', 'device_sightings.interface', 'device_sightings.present'])
    .where('device_sightings.router_id', '=', scope.routerId)
    .where('device_sightings.present', '<>', 0)
    .execute();
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
