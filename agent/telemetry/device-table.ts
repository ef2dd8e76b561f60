import { cleanText, ipAddressFact } from '../../routeros-text/router-text.ts';
import type { SeenDevice } from '../../protocol/index.ts';
import type { RouterRow } from '../routers/adapter.ts';
import { parseDuration } from '../../routeros-text/durations.ts';
import { isTrue } from '../../routeros-text/values.ts';

/** Devices of one router by MAC address, in reported form. */
export type DeviceTable = ReadonlyMap<string, SeenDevice>;

const MAC = /^(?:[0-9A-F]{2}:){5}[0-9A-F]{2}$/;
const NO_MAC = '00:00:00:00:00:00';

function readMac(text: string | undefined): string | undefined {
  const mac = text?.toUpperCase();
  return mac !== undefined && MAC.test(mac) && mac !== NO_MAC ? mac : undefined;
}

/** Whether an ARP entry shows a present device. v7 has a status; in v6 an entry without an answer has no MAC address. */
function isSighting(row: RouterRow): boolean {
  if (isTrue(row['disabled']) || isTrue(row['invalid'])) return false;
  return !/^(?:failed|incomplete)$/.test(row['status'] ?? '');
}

interface Lease {
  ip: string | undefined;
  hostname: string | undefined;
  /** Seconds since the DHCP server last heard from it; undefined: never. */
  seenAgo: number | undefined;
}

function readLease(row: RouterRow): { mac: string; lease: Lease } | undefined {
  const mac = readMac(row['active-mac-address'] ?? row['mac-address']);
  if (mac === undefined || row['status'] !== 'bound') return undefined;
  const hostname = row['host-name'];
  return {
    mac,
    lease: {
      ip: row['active-address'] ?? row['address'],
      hostname: textOrNone(hostname, LONGEST_HOSTNAME),
      seenAgo: parseDuration(row['last-seen'] ?? ''),
    },
  };
}

/**
 * Combines an ARP table and DHCP leases. A device in the ARP table is present; one with only a lease was present when the DHCP
 * server last heard from it. A device with several addresses is listed with the leased one, else with the lowest, so that the
 * result is stable between readings.
 * @param limit largest number of devices; the rest is omitted
 */
export function buildDeviceTable(arp: readonly RouterRow[], leases: readonly RouterRow[], limit: number): DeviceTable {
  const known = new Map(leases.flatMap((row) => readLease(row) ?? []).map(({ mac, lease }) => [mac, lease]));
  const table = new Map<string, SeenDevice>();
  for (const row of arp) {
    const mac = readMac(row['mac-address']);
    if (mac === undefined || !isSighting(row)) continue;
    const device = describe(mac, row['address'], row['interface'], known.get(mac)?.hostname);
    const other = table.get(mac);
    if (other ? isPreferred(device.ip, other.ip, known.get(mac)?.ip) : table.size < limit) table.set(mac, device);
  }
  for (const [mac, { ip, hostname, seenAgo }] of known) {
    if (table.has(mac) || seenAgo === undefined || table.size >= limit) continue;
    table.set(mac, { ...describe(mac, ip, undefined, hostname), seen_ago: Math.floor(seenAgo) });
  }
  return table;
}

/** How many devices a table without a limit would have. */
export function countDevices(arp: readonly RouterRow[], leases: readonly RouterRow[]): number {
  const macs = new Set(arp.filter(isSighting).flatMap((row) => readMac(row['mac-address']) ?? []));
  for (const { mac, lease } of leases.flatMap((row) => readLease(row) ?? [])) if (lease.seenAgo !== undefined) macs.add(mac);
  return macs.size;
}

const LONGEST_HOSTNAME = 255;
const LONGEST_INTERFACE = 128;

/** Undefined when the cleaned text is empty. */
function textOrNone(text: string | undefined, max: number): string | undefined {
  const clean = cleanText(text ?? '', max);
  return clean === '' ? undefined : clean;
}

function describe(mac: string, address: string | undefined, port: string | undefined, hostname: string | undefined): SeenDevice {
  const ip = ipAddressFact(address ?? '');
  const name = textOrNone(port, LONGEST_INTERFACE);
  return {
    mac,
    ...(ip === undefined ? {} : { ip }),
    ...(name === undefined ? {} : { interface: name }),
    ...(hostname === undefined ? {} : { hostname }),
  };
}

/** Number of invalid names and addresses in both tables. A lease may name a pool instead of an address. */
export function countUnclean(arp: readonly RouterRow[], leases: readonly RouterRow[]): number {
  const isUnclean = (text: string | undefined, max: number): boolean => text !== undefined && cleanText(text, max) !== text;
  let count = 0;
  for (const row of arp) {
    if (isUnclean(row['interface'], LONGEST_INTERFACE)) count += 1;
    if ((row['address'] ?? '') !== '' && ipAddressFact(row['address'] ?? '') === undefined) count += 1;
  }
  for (const row of leases) if (isUnclean(row['host-name'], LONGEST_HOSTNAME)) count += 1;
  return count;
}

function isPreferred(candidate: string | undefined, present: string | undefined, leased: string | undefined): boolean {
  if (candidate === undefined || present === leased) return false;
  if (present === undefined || candidate === leased) return true;
  return candidate.localeCompare(present, 'en', { numeric: true }) < 0;
}
