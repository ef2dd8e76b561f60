/** Where sightings of a router belong. */
export interface DeviceScope {
  teamId: string;
  routerId: string;
  siteId: string | null;
}

/** What one router says of one device. */
export interface Sighting {
  routerId: string;
  ipAddress: string | null;
  interface: string | null;
  ipFirstSeenAt: number;
  /** When the device was there last, as far as this router knows. */
  lastSeenAt: number;
}

/** A device at a place, with what is known of it from all routers there. */
export interface Device {
  id: string;
  mac: string;
  hostname: string | null;
  alias: string | null;
  manufacturer: string | null;
  siteId: string | null;
  firstSeenAt: number;
  lastSeenAt: number;
  /** The newest sighting that tells an address. */
  current: (Sighting & { ipAddress: string }) | null;
}

export interface DeviceFilter {
  siteId?: string | undefined;
  /** Part of host name, alias, manufacturer, IP address or, in any spelling, MAC address. */
  search?: string | undefined;
}
