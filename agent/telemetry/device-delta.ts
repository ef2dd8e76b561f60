import { MAX_DEVICES_PER_MESSAGE } from '../../protocol/index.ts';
import type { Devices, SeenDevice } from '../../protocol/index.ts';
import type { DeviceTable } from './device-table.ts';

/** What was told of a device, and when; moments count seconds of the agent's clock. */
interface Reported {
  words: string;
  /** Of a device that was not there: the moment it was seen. */
  seenAt: number | undefined;
}

/** What the control plane has been told of one router's devices. */
export type ReportedDevices = ReadonlyMap<string, Reported>;

/** A device that comes and goes is told again when it was seen so much later. */
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
 * The difference between what was told and what is there now. Invariant: applying it to what was told gives the
 * table, up to a quarter of an hour in the last-seen of devices that are not there.
 * @param now seconds
 */
export function computeDelta(reported: ReportedDevices, table: DeviceTable, now: number): Delta {
  const changed: SeenDevice[] = [];
  const next = new Map<string, Reported>();
  for (const device of table.values()) {
    const before = reported.get(device.mac);
    const after = toReported(device, now);
    const news = isChanged(before, after);
    if (news) changed.push(device);
    next.set(device.mac, news || !before ? after : before);
  }
  // A lease that ends says nothing about a device that was not there anyway.
  const gone = [...reported].filter(([mac, { seenAt }]) => seenAt === undefined && !table.has(mac)).map(([mac]) => mac);
  return { changed, gone, reported: next };
}

type Message = Omit<Devices, 'type' | 'router'>;

/** A delta that changes nothing: for what is told along with it. */
export const NO_CHANGE: Message = { kind: 'delta', first: false, last: false, devices: [], gone: [] };

/** Everything, in messages of bounded size; at least one, which may say that there is nothing. */
export function fullMessages(table: DeviceTable): Message[] {
  const chunks = inChunks([...table.values()]);
  if (chunks.length === 0) chunks.push([]);
  return chunks.map((devices, index) => ({ kind: 'full', first: index === 0, last: index === chunks.length - 1, devices, gone: [] }));
}

/** A delta in messages of bounded size; none when nothing has changed. */
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
