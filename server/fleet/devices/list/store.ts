import type { Page } from '../../../platform/core/page.ts';
import { inChunks } from '../../../platform/storage/columns.ts';
import type { DbOrTx, Storage } from '../../../platform/storage/db.ts';
import { newestFirst } from '../../../platform/storage/paging.ts';
import { searchHits } from '../../../platform/storage/search.ts';

/** Queries for the device list, and the aliases that callers set. */

export interface DeviceRow {
  id: string;
  mac: string;
  hostname: string | null;
  alias: string | null;
  manufacturer: string | null;
  site_id: string | null;
  first_seen_at: number;
}

const COLUMNS = ['devices.id', 'devices.mac', 'hostname', 'alias', 'manufacturer', 'site_id', 'first_seen_at'] as const;

function selectDeviceRows(db: DbOrTx, teamId: string) {
  return db
    .selectFrom('devices')
    .leftJoin('device_aliases', (join) =>
      join.onRef('device_aliases.team_id', '=', 'devices.team_id').onRef('device_aliases.mac', '=', 'devices.mac'),
    )
    .select(COLUMNS)
    .where('devices.team_id', '=', teamId);
}

/** Those of one site, of one router, or all. */
export interface Where {
  siteId: string | undefined;
  routerId: string | undefined;
}

/** The newest first, by when they were first seen. */
export async function selectDevices(db: DbOrTx, teamId: string, { siteId, routerId }: Where, page: Page): Promise<DeviceRow[]> {
  const devices = routerId === undefined ? selectDeviceRows(db, teamId) : selectSeenBy(db, teamId, routerId);
  return devices
    .$call(newestFirst(page, 'first_seen_at', 'devices.id'))
    .$if(siteId !== undefined, (some) => some.where('site_id', '=', siteId!))
    .execute();
}

/**
 * Devices that a router sees, at most 20,000 (devices/limits.ts). Its sightings come first: SQLite keeps the order of a cross join, and would
 * otherwise look through all devices of the team for them.
 */
function selectSeenBy(db: DbOrTx, teamId: string, routerId: string) {
  return db
    .selectFrom('device_sightings')
    .crossJoin('devices')
    .leftJoin('device_aliases', (join) =>
      join.onRef('device_aliases.team_id', '=', 'devices.team_id').onRef('device_aliases.mac', '=', 'devices.mac'),
    )
    .select(COLUMNS)
    .where('device_sightings.router_id', '=', routerId)
    .whereRef('devices.id', '=', 'device_sightings.device_id')
    .where('devices.team_id', '=', teamId);
}

/** A device that was found, and its place in the order of what is found. */
export interface FoundDeviceRow extends DeviceRow {
  n: number;
}

/** Devices with a text in their host name, alias, manufacturer, MAC or IP address: those first that were stored last. */
export async function searchDevices(
  { db, engine }: Pick<Storage, 'db' | 'engine'>,
  { teamId, siteId, texts }: { teamId: string; siteId: string | undefined; texts: readonly string[] },
  { limit, before }: Page,
): Promise<FoundDeviceRow[]> {
  const hits = searchHits(engine, { teamId, kind: 'device', texts, place: 'anywhere', siteId, before: before?.at, limit });
  return (
    db
      .selectFrom(hits.as('hits'))
      // The matches come first: SQLite keeps the order of a cross join, and would otherwise begin with all devices of the team.
      .crossJoin('devices')
      .leftJoin('device_aliases', (join) =>
        join.onRef('device_aliases.team_id', '=', 'devices.team_id').onRef('device_aliases.mac', '=', 'devices.mac'),
      )
      .select([...COLUMNS, 'hits.n'])
      .whereRef('devices.id', '=', 'hits.record_id')
      .where('devices.team_id', '=', teamId)
      .orderBy('hits.n', 'desc')
      .execute()
  );
}

/** A MAC address at all sites of the team. */
export async function selectDevicesByMac(db: DbOrTx, teamId: string, mac: string): Promise<DeviceRow[]> {
  return selectDeviceRows(db, teamId).where('devices.mac', '=', mac).execute();
}

export interface SightingRow {
  device_id: string;
  router_id: string;
  ip_address: string | null;
  interface: string | null;
  ip_first_seen_at: number;
  last_seen_at: number;
  present: 0 | 1 | 2;
  /** When the router's report was last confirmed. */
  confirmed_at: number | null;
}

export async function selectSightings(db: DbOrTx, deviceIds: readonly string[]): Promise<SightingRow[]> {
  const rows: SightingRow[] = [];
  for (const chunk of inChunks(deviceIds)) {
    const found = await db
      .selectFrom('device_sightings')
      .leftJoin('device_reports', 'device_reports.router_id', 'device_sightings.router_id')
      .select([
        'device_id',
        'device_sightings.router_id',
        'ip_address',
        'interface',
        'ip_first_seen_at',
        'last_seen_at',
        'present',
        'confirmed_at',
      ])
      .where('device_id', 'in', chunk)
      .execute();
    rows.push(...found);
  }
  return rows;
}

export async function upsertAlias(db: DbOrTx, teamId: string, mac: string, alias: string, now: number): Promise<void> {
  await db
    .insertInto('device_aliases')
    .values({ team_id: teamId, mac, alias, updated_at: now })
    .onConflict((conflict) => conflict.columns(['team_id', 'mac']).doUpdateSet({ alias, updated_at: now }))
    .execute();
}

export async function deleteAlias(db: DbOrTx, teamId: string, mac: string): Promise<void> {
  await db.deleteFrom('device_aliases').where('team_id', '=', teamId).where('mac', '=', mac).execute();
}
