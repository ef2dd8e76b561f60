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

/** How ports do that power other devices. API only. @returns undefined where the board has none */
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
 * What the router receives of a provider's cell, or of the access point it is a station of.
 * @returns undefined where it has no such link
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
  // One after the other: a modem's answer does not say which interface it is of.
  for (const modem of modems.slice(0, MAX_SENSORS)) {
    const row = await sampleModem(router, itemNumber(modem), signal);
    const dbm = row && leadingNumber(row['rsrp']);
    if (row && (dbm !== undefined || isUnregistered(row)))
      links.push({ interface: cleaner.text(modem.name, 128), kind: 'lte', dbm: dbm ?? null });
  }
  return links;
}

/** RouterOS 6 calls the command otherwise than RouterOS 7. */
async function sampleModem(router: RouterAdapter, number: string, signal: AbortSignal): Promise<RouterRow | undefined> {
  const isOld = router.state().facts?.softwareVersion?.startsWith('6.') ?? false;
  const command = isOld ? { path: '/interface/lte/info', argument: 'number' } : { path: '/interface/lte/monitor' };
  return (await sampleItems(router, { ...command, numbers: [number] }, signal))?.[0];
}

/** A modem that is still searching, or that no network lets in. Other words, and none, say nothing. */
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
 * RAID in RouterOS is that of Linux and prints its words: `clean` of an array, `0:in_sync` of a member. docs/health-rules.md says where
 * each word comes from.
 */
const ARRAY_FAULTS = new Set(['inactive', 'broken']);
const MEMBER_FAULTS = new Set(['faulty', 'write_error', 'blocked', 'want_replacement']);

/** Disks and arrays whose state is a bad one; an empty list where all are well. @returns undefined where there is no such menu */
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
  // `1:faulty,write_error`: the place in the array, then its states. Outside of an array it is a sentence about what was found there.
  const [, states] = /^\d+:([a-z_,]+)$/.exec(clean(row['raid-member-state'])) ?? [];
  const member = states?.split(',').find((state) => MEMBER_FAULTS.has(state));
  // The drive's own S.M.A.R.T.: any warning is one to act on.
  return member ?? (clean(row['critical-warning']) || undefined);
}

/** A menu's enabled items; undefined when there is no menu, no item, or no API to ask by. */
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
