import { sql } from 'kysely';
import type { Page } from '../../../platform/core/page.ts';
import { inChunks } from '../../../platform/storage/columns.ts';
import type { DbOrTx } from '../../../platform/storage/db.ts';
import { newestFirst } from '../../../platform/storage/paging.ts';
import type { DeviceFilter } from '../types.ts';

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

function selectDeviceRows(db: DbOrTx, teamId: string) {
  return db
    .selectFrom('devices')
    .leftJoin('device_aliases', (join) =>
      join.onRef('device_aliases.team_id', '=', 'devices.team_id').onRef('device_aliases.mac', '=', 'devices.mac'),
    )
    .select(['devices.id', 'devices.mac', 'hostname', 'alias', 'manufacturer', 'site_id', 'first_seen_at'])
    .where('devices.team_id', '=', teamId);
}

/** The newest first, by when they were first seen. @param end the last device that may be read */
export async function selectDevices(
  db: DbOrTx,
  teamId: string,
  filter: DeviceFilter & { macFragment?: string | undefined },
  page: Page,
  end?: DevicePlace,
): Promise<DeviceRow[]> {
  let query = selectDeviceRows(db, teamId);
  if (filter.siteId !== undefined) query = query.where('site_id', '=', filter.siteId);
  if (filter.search !== undefined) query = query.where(matches(filter.search, filter.macFragment));
  if (end !== undefined) query = query.where(sql<boolean>`(first_seen_at, devices.id) >= (${end.at}, ${end.id})`);
  return query.$call(newestFirst(page, 'first_seen_at', 'devices.id')).execute();
}

/** Where a device stands in the list. */
export type DevicePlace = NonNullable<Page['before']>;

/** The last of the next `count` devices in the list's order, whether or not a search finds them; undefined when there are fewer. */
export async function endOfStep(db: DbOrTx, teamId: string, before: Page['before'], count: number): Promise<DevicePlace | undefined> {
  const row = await db
    .selectFrom('devices')
    .select(['first_seen_at', 'id'])
    .where('team_id', '=', teamId)
    .$call(newestFirst({ before, limit: 1 }, 'first_seen_at', 'devices.id'))
    .offset(count - 1)
    .executeTakeFirst();
  return row && { at: row.first_seen_at, id: row.id };
}

function matches(search: string, macFragment: string | undefined) {
  const like = (text: string): string => `%${text.toLowerCase().replace(/[\\%_]/g, String.raw`\$&`)}%`;
  const pattern = like(search);
  const mac = like(macFragment ?? search);
  return sql<boolean>`(
    lower(hostname) like ${pattern} escape '\\' or lower(alias) like ${pattern} escape '\\'
    or lower(manufacturer) like ${pattern} escape '\\' or lower(devices.mac) like ${mac} escape '\\'
    or exists (select 1 from device_sightings where device_id = devices.id and ip_address like ${pattern} escape '\\'))`;
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
