import type { DeviceRow, SightingRow } from './list/store.ts';
import type { Device, Sighting } from './types.ts';

/**
 * Joins devices with their sightings.
 * @param liveUntil the time up to which a router's report is known to hold; null for a router that is not being followed
 */
export function toDevices(
  rows: readonly DeviceRow[],
  sightings: readonly SightingRow[],
  liveUntil: (routerId: string) => number | null,
): Device[] {
  const byDevice = Map.groupBy(sightings, (sighting) => sighting.device_id);
  return rows.map((row) =>
    toDevice(
      row,
      (byDevice.get(row.id) ?? []).map((sighting) => toSighting(sighting, liveUntil)),
    ),
  );
}

/** A device that is still present was last seen when its report was last confirmed. */
function toSighting(row: SightingRow, liveUntil: (routerId: string) => number | null): Sighting {
  const stillThere = row.present === 0 ? 0 : Math.max(row.confirmed_at ?? 0, liveUntil(row.router_id) ?? 0);
  return {
    routerId: row.router_id,
    ipAddress: row.ip_address,
    interface: row.interface,
    ipFirstSeenAt: row.ip_first_seen_at,
    lastSeenAt: Math.max(row.last_seen_at, stillThere),
  };
}

function toDevice(row: DeviceRow, sightings: Sighting[]): Device {
  const newestFirst = sightings.toSorted((a, b) => b.lastSeenAt - a.lastSeenAt);
  const current = newestFirst.find((sighting): sighting is Sighting & { ipAddress: string } => sighting.ipAddress !== null);
  return {
    id: row.id,
    mac: row.mac,
    hostname: row.hostname,
    alias: row.alias,
    manufacturer: row.manufacturer,
    siteId: row.site_id,
    firstSeenAt: row.first_seen_at,
    lastSeenAt: newestFirst[0]?.lastSeenAt ?? row.first_seen_at,
    current: current ?? null,
  };
}

export function newestDevice(devices: readonly Device[]): Device | undefined {
  return devices.toSorted((a, b) => b.lastSeenAt - a.lastSeenAt)[0];
}
