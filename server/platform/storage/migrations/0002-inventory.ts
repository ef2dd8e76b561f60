import { capabilities, type Engine } from '../capabilities.ts';
import type { Migration } from './types.ts';

/** What agents find out about their routers: where they stand, what is wrong with them, which devices are behind them. */
function statements(engine: Engine): string[] {
  const { text } = capabilities[engine];
  return [
    `create table router_positions (
      router_id ${text} primary key references routers (id) on delete cascade, latitude double precision not null,
      longitude double precision not null, reported_at bigint not null)`,
    ...faults(text),
    ...devices(text),
  ];
}

function faults(text: string): string[] {
  return [
    `create table faults (
      id ${text} primary key, team_id ${text} not null references teams (id),
      router_id ${text} not null references routers (id) on delete cascade, type ${text} not null, severity ${text} not null,
      message ${text} not null, cause ${text} not null, created_at bigint not null, resolved_at bigint,
      occurrences bigint not null, updated_at bigint not null)`,
    // One open fault per router and type, whoever finds it.
    'create unique index faults_open on faults (router_id, type) where resolved_at is null',
    // Finds the one that has just been resolved when it comes back.
    'create index faults_by_router_type on faults (router_id, type, resolved_at)',
    'create index faults_by_team_router on faults (team_id, router_id, created_at, id)',
  ];
}

function devices(text: string): string[] {
  return [
    // `place` is the site, or the router where it stands in none: a MAC address is one device there.
    `create table devices (
      id ${text} primary key, team_id ${text} not null references teams (id), place ${text} not null,
      site_id ${text} references sites (id), mac ${text} not null, hostname ${text}, manufacturer ${text},
      first_seen_at bigint not null)`,
    'create unique index devices_by_place on devices (team_id, place, mac)',
    'create index devices_by_mac on devices (team_id, mac)',
    'create index devices_by_team on devices (team_id, first_seen_at, id)',
    // People name a device, wherever it goes.
    `create table device_aliases (
      team_id ${text} not null references teams (id), mac ${text} not null, alias ${text} not null,
      updated_at bigint not null, primary key (team_id, mac))`,
    // What one router sees of one device.
    `create table device_sightings (
      device_id ${text} not null references devices (id) on delete cascade,
      router_id ${text} not null references routers (id) on delete cascade, ip_address ${text}, interface ${text},
      ip_first_seen_at bigint not null, last_seen_at bigint not null, present smallint not null,
      primary key (device_id, router_id))`,
    'create index device_sightings_by_router on device_sightings (router_id, present)',
    // Until when the present sightings of a router are known to be true.
    `create table device_reports (
      router_id ${text} primary key references routers (id) on delete cascade, confirmed_at bigint not null)`,
  ];
}

export const inventory: Migration = { number: 2, name: 'inventory', statements };
