import { MAX_DEVICES_PER_MESSAGE } from '../../protocol/index.ts';
import type { Devices, SeenDevice } from '../../protocol/index.ts';
import type { DeviceTable } from './device-table.ts';

/** What was reported about a device; times in seconds of the agent's clock. */
interface Reported {
  words: string;
  /** When an absent device was last seen. */
  seenAt: number | undefined;
}

/** What was reported about one router's devices, by MAC address. */
export type ReportedDevices = ReadonlyMap<string, Reported>;

/** An absent device is reported again when it was seen this much later. */
const COARSE_SECONDS = 15 * 60;

function toReported(device: SeenDevice, now: number): Reported {
  return {
    words: JSON.stringify([device.ip, device.interface, device.hostname]),
    seenAt: device.seen_ago === undefined ? undefined : now - device.seen_ago,
  };
}

function isChanged(before: Reported | undefined, after: Reported): boolean {
  if (before?.words !== after.words) return true;
  if (before.seenAt === undefined || after.seenAt === undefined) return before.seenAt !== after.seenAt;
  return after.seenAt - before.seenAt >= COARSE_SECONDS;
}

export interface Delta {
  changed: SeenDevice[];
  gone: string[];
  /** What the control plane knows once it has got this. */
  reported: ReportedDevices;
}

/**
 * The difference between the reported and the current devices. Invariant: applying it to the reported ones gives the table; the
 * last-seen time of absent devices may be up to a quarter of an hour old.
 * @param now seconds
 */
export function computeDelta(reported: ReportedDevices, table: DeviceTable, now: number): Delta {
  const changed: SeenDevice[] = [];
  const next = new Map<string, Reported>();
  for (const device of table.values()) {
    const before = reported.get(device.mac);
    const after = toReported(device, now);
    const changes = isChanged(before, after);
    if (changes) changed.push(device);
    next.set(device.mac, changes || !before ? after : before);
  }
  // The end of a lease does not change a device that was absent already.
  const gone = [...reported].filter(([mac, { seenAt }]) => seenAt === undefined && !table.has(mac)).map(([mac]) => mac);
  return { changed, gone, reported: next };
}

type Message = Omit<Devices, 'type' | 'router'>;

/** A delta without changes, to report a changed total. */
export const NO_CHANGE: Message = { kind: 'delta', first: false, last: false, devices: [], gone: [] };

/** The full list in messages of bounded size; one empty message for an empty table. */
export function fullMessages(table: DeviceTable): Message[] {
  const chunks = inChunks([...table.values()]);
  if (chunks.length === 0) chunks.push([]);
  return chunks.map((devices, index) => ({ kind: 'full', first: index === 0, last: index === chunks.length - 1, devices, gone: [] }));
}

/** A delta in messages of bounded size; none without changes. */
export function deltaMessages({ changed, gone }: Pick<Delta, 'changed' | 'gone'>): Message[] {
  const message = (devices: SeenDevice[], macs: string[]): Message => ({ kind: 'delta', first: false, last: false, devices, gone: macs });
  return [...inChunks(changed).map((devices) => message(devices, [])), ...inChunks(gone).map((macs) => message([], macs))];
}

function inChunks<T>(items: readonly T[]): T[][] {
  const chunks: T[][] = [];
  for (let start = 0; start < items.length; start += MAX_DEVICES_PER_MESSAGE)
    chunks.push(items.slice(start, start + MAX_DEVICES_PER_MESSAGE));
  return chunks;
}
