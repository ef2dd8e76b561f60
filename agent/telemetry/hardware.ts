import { MAX_POE_PORTS, MAX_SENSORS } from '../../protocol/index.ts';
import type { HealthReadings } from '../../protocol/index.ts';
import type { RouterAdapter, RouterRow } from '../routers/adapter.ts';
import { Cleaner } from './cleaner.ts';
import { itemNumber, readMenu, sampleItems } from './menus.ts';
import type { NamedItem } from './menus.ts';
import { isTrue, leadingNumber } from '../../routeros-text/values.ts';

type Poe = NonNullable<HealthReadings['poe']>;
type Signals = NonNullable<HealthReadings['signals']>;
type Disks = NonNullable<HealthReadings['bad_disks']>;

/** States of PoE output ports. API only. @returns undefined when the board has none */
export async function readPoe(router: RouterAdapter, signal: AbortSignal, cleaner = new Cleaner()): Promise<Poe | undefined> {
  const ports = await listItems(router, { menu: '/interface/ethernet/poe', properties: ['.id', 'name'] }, signal);
  if (ports === undefined) return undefined;
  const numbers = ports.slice(0, MAX_POE_PORTS).map(itemNumber);
  const rows = await sampleItems(router, { path: '/interface/ethernet/poe/monitor', numbers }, signal);
  const reported = rows?.filter((row) => (row['name'] ?? '') !== '' && (row['poe-out-status'] ?? '') !== '');
  return reported
    ?.slice(0, MAX_POE_PORTS)
    .map((row) => ({ interface: cleaner.text(row['name']!, 128), status: cleaner.text(row['poe-out-status']!, 64) }));
}

/**
 * Received signal strength of LTE modems, or of the access points to which the router is connected as a station.
 * @returns undefined when it has no such link
 */
export async function readSignals(
  router: RouterAdapter,
  kind: 'lte' | 'wireless',
  signal: AbortSignal,
  cleaner = new Cleaner(),
): Promise<Signals | undefined> {
  if (!router.hasApi) return undefined;
  return kind === 'lte' ? readCells(router, signal, cleaner) : readAccessPoints(router, signal, cleaner);
}

async function readCells(router: RouterAdapter, signal: AbortSignal, cleaner: Cleaner): Promise<Signals | undefined> {
  const modems = await listItems(router, { menu: '/interface/lte', properties: ['.id', 'name', 'disabled'] }, signal);
  if (modems === undefined) return undefined;
  const links: Signals = [];
  // One after another: a modem's answer does not name its interface.
  for (const modem of modems.slice(0, MAX_SENSORS)) {
    const row = await sampleModem(router, itemNumber(modem), signal);
    const dbm = row && leadingNumber(row['rsrp']);
    if (row && (dbm !== undefined || isUnregistered(row)))
      links.push({ interface: cleaner.text(modem.name, 128), kind: 'lte', dbm: dbm ?? null });
  }
  return links;
}

/** RouterOS 6 has another name for the command. */
async function sampleModem(router: RouterAdapter, number: string, signal: AbortSignal): Promise<RouterRow | undefined> {
  const isOld = router.state().facts?.softwareVersion?.startsWith('6.') ?? false;
  const command = isOld ? { path: '/interface/lte/info', argument: 'number' } : { path: '/interface/lte/monitor' };
  return (await sampleItems(router, { ...command, numbers: [number] }, signal))?.[0];
}

/** A modem that is searching or is denied by the network. Other states do not mean that there is no link. */
function isUnregistered(row: RouterRow): boolean {
  return ['not registered', 'not-registered', 'searching', 'denied'].includes(row['registration-status'] ?? '');
}

async function readAccessPoints(router: RouterAdapter, signal: AbortSignal, cleaner: Cleaner): Promise<Signals | undefined> {
  const menu = '/interface/wireless/registration-table';
  const rows = await readMenu(
    router,
    { menu, properties: ['interface', 'ap', 'signal-strength'], where: { property: 'ap', anyOf: ['true'] }, flags: {} },
    signal,
  );
  const links = rows
    ?.filter((row) => isTrue(row['ap']))
    .flatMap((row): Signals => {
      const dbm = leadingNumber(row['signal-strength']);
      return dbm === undefined ? [] : [{ interface: cleaner.text(row['interface'] ?? '', 128), kind: 'wireless', dbm }];
    });
  return links?.slice(0, MAX_SENSORS);
}

/**
 * RouterOS uses Linux RAID and prints its words: `clean` for an array, `0:in_sync` for a member. docs/health-rules.md has their sources.
 */
const ARRAY_FAULTS = new Set(['inactive', 'broken']);
const MEMBER_FAULTS = new Set(['faulty', 'write_error', 'blocked', 'want_replacement']);

/** Disks and arrays in a bad state; empty when all are good. API only. @returns undefined when there is no such menu */
export async function readBadDisks(router: RouterAdapter, signal: AbortSignal, cleaner = new Cleaner()): Promise<Disks | undefined> {
  if (!router.hasApi) return undefined;
  const properties = ['slot', 'state', 'raid-member-state', 'raid-member-failed', 'critical-warning'];
  const rows = await readMenu(router, { menu: '/disk', properties, flags: {} }, signal);
  const bad = rows?.flatMap((row): Disks => {
    const word = badWord(row, (text) => cleaner.text(text ?? '', 64));
    return word === undefined ? [] : [{ name: cleaner.text(row['slot'] ?? '', 64), state: word }];
  });
  return bad?.slice(0, MAX_SENSORS);
}

function badWord(row: RouterRow, clean: (text: string | undefined) => string): string | undefined {
  if (isTrue(row['raid-member-failed'])) return 'raid-member-failed';
  const array = clean(row['state']);
  if (ARRAY_FAULTS.has(array)) return array;
  // `1:faulty,write_error`: the position in the array, then the states. Outside an array it is a sentence.
  const [, states] = /^\d+:([a-z_,]+)$/.exec(clean(row['raid-member-state'])) ?? [];
  const member = states?.split(',').find((state) => MEMBER_FAULTS.has(state));
  // S.M.A.R.T. of the drive: any warning counts.
  return member ?? (clean(row['critical-warning']) || undefined);
}

/** A menu's enabled items; undefined when there is no menu, no item, or no API. */
async function listItems(
  router: RouterAdapter,
  reading: { menu: string; properties: string[] },
  signal: AbortSignal,
): Promise<NamedItem[] | undefined> {
  if (!router.hasApi) return undefined;
  const rows = await readMenu(router, { ...reading, flags: {} }, signal);
  const enabled = rows?.filter((row) => !isTrue(row['disabled']));
  const items = enabled?.map((row) => ({ id: row['.id'] ?? '', name: row['name'] ?? '' })).filter(({ name }) => name !== '');
  return items === undefined || items.length === 0 ? undefined : items;
}
