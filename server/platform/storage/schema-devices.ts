import type { Fixed, Millis } from './schema-columns.ts';

/** Devices in the networks of routers. */

export interface DevicesTable {
  id: Fixed<string>;
  team_id: Fixed<string>;
  /** The site, or the router if it has none. */
  place: string;
  site_id: string | null;
  /** `AA:BB:CC:DD:EE:FF`. */
  mac: Fixed<string>;
  hostname: string | null;
  manufacturer: string | null;
  first_seen_at: Fixed<Millis>;
}

export interface DeviceAliasesTable {
  team_id: Fixed<string>;
  mac: Fixed<string>;
  alias: string;
  updated_at: Millis;
}

export interface DeviceSightingsTable {
  /** Another one when its router is moved to a site that knows the device already. */
  device_id: string;
  router_id: Fixed<string>;
  ip_address: string | null;
  interface: string | null;
  ip_first_seen_at: Millis;
  last_seen_at: Millis;
  /** Still there: then it was last seen when its router's report was last confirmed. 2: to be confirmed by a running report. */
  present: 0 | 1 | 2;
}

export interface DeviceReportsTable {
  router_id: Fixed<string>;
  confirmed_at: Millis;
}
