import type { DeviceRow, SightingRow } from './list/store.ts';
import type { Device, Sighting } from './types.ts';

/**
 * Puts devices and their sightings together.
 * @param liveUntil until when a router's report is known to be true in memory; null for a router that is not followed now
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

/** A device that is still there was seen when the report was last known to be true. */
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
