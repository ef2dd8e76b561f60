/** Where sightings of a router belong: its site, or the router itself when it has no site. */
export interface DeviceScope {
  teamId: string;
  routerId: string;
  siteId: string | null;
}

/** One router's report of one device. */
export interface Sighting {
  routerId: string;
  ipAddress: string | null;
  interface: string | null;
  ipFirstSeenAt: number;
  /** When this router last saw the device. */
  lastSeenAt: number;
}

/** A device in one scope, combined from the reports of all its routers. */
export interface Device {
  id: string;
  mac: string;
  hostname: string | null;
  alias: string | null;
  manufacturer: string | null;
  siteId: string | null;
  firstSeenAt: number;
  lastSeenAt: number;
  /** The newest sighting with an address. */
  current: (Sighting & { ipAddress: string }) | null;
}

/** A device on a page, with its value in the order of the list. */
export interface ListedDevice {
  device: Device;
  at: number;
}

export interface DeviceFilter {
  siteId?: string | undefined;
  /** Devices that this router sees, or has seen. Not together with `search`. */
  routerId?: string | undefined;
  /** Part of host name, alias, manufacturer, IP address or, in any spelling, MAC address; one or two characters: the beginning of one. */
  search?: string | undefined;
}
