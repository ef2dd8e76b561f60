import type { DeviceScope } from './types.ts';

/** One device of a report. */
export interface SightedDevice {
  newId: string;
  mac: string;
  hostname: string | null;
  manufacturer: string | null;
  ipAddress: string | null;
  interface: string | null;
  present: boolean;
  seenAt: number;
}

/** A MAC address is one device at a site, or behind its router where that stands in no site. */
export const scopeId = ({ siteId, routerId }: DeviceScope): string => siteId ?? routerId;

/** What one router sees of one device. */
export interface Seen {
  scope: DeviceScope;
  device: SightedDevice;
}

/** The name of a device at a place. */
export const keyOf = (place: string, mac: string): string => `${place} ${mac}`;

/** One statement cannot touch a row twice: what a later router says of a device at the same site counts, and what only an earlier one knows. */
export function onceAPlace(seen: readonly Seen[]): Seen[] {
  const byKey = new Map<string, Seen>();
  for (const { scope, device } of seen) {
    const key = keyOf(scopeId(scope), device.mac);
    const earlier = byKey.get(key)?.device;
    const { newId = device.newId, seenAt = device.seenAt, hostname = null } = earlier ?? {};
    byKey.set(key, { scope, device: { ...device, newId, seenAt, hostname: device.hostname ?? hostname } });
  }
  return [...byKey.values()];
}
