import { MAX_POE_PORTS, MAX_SENSORS } from '../../protocol/index.ts';
import { cleanText } from '../../routeros-text/router-text.ts';
import type { HealthReadings } from '../../protocol/index.ts';
import type { RouterAdapter, RouterRow } from '../routers/adapter.ts';
import { readMenu, sampleItems } from './menus.ts';
import { isTrue, leadingNumber } from '../../routeros-text/values.ts';

type Poe = NonNullable<HealthReadings['poe']>;
type Signals = NonNullable<HealthReadings['signals']>;
type Disks = NonNullable<HealthReadings['bad_disks']>;

/** How ports do that power other devices. API only. @returns undefined where the board has none */
export async function readPoe(router: RouterAdapter, signal: AbortSignal): Promise<Poe | undefined> {
  const names = await listNames(router, { menu: '/interface/ethernet/poe', properties: ['name'] }, signal);
  if (names === undefined) return undefined;
  const rows = await sampleItems(router, { path: '/interface/ethernet/poe/monitor', names: names.slice(0, MAX_POE_PORTS) }, signal);
  const told = rows?.filter((row) => (row['name'] ?? '') !== '' && (row['poe-out-status'] ?? '') !== '');
  return told?.slice(0, MAX_POE_PORTS).map((row) => ({
    interface: cleanText(row['name']!, 128),
    status: cleanText(row['poe-out-status']!, 64),
  }));
}

/**
 * What the router receives of a provider's cell, or of the access point it is a station of.
 * @returns undefined where it has no such link
 */
export async function readSignals(router: RouterAdapter, kind: 'lte' | 'wireless', signal: AbortSignal): Promise<Signals | undefined> {
  if (!router.hasApi) return undefined;
  return kind === 'lte' ? readCells(router, signal) : readAccessPoints(router, signal);
}

async function readCells(router: RouterAdapter, signal: AbortSignal): Promise<Signals | undefined> {
  const names = await listNames(router, { menu: '/interface/lte', properties: ['name', 'disabled'] }, signal);
  if (names === undefined) return undefined;
  const links: Signals = [];
  // One after the other: a modem's answer does not say which interface it is of.
  for (const name of names.slice(0, MAX_SENSORS)) {
    const row = await sampleModem(router, name, signal);
    const dbm = row && leadingNumber(row['rsrp']);
    if (row && (dbm !== undefined || isUnregistered(row))) links.push({ interface: cleanText(name, 128), kind: 'lte', dbm: dbm ?? null });
  }
  return links;
}

/** RouterOS 6 calls the command otherwise than RouterOS 7. */
async function sampleModem(router: RouterAdapter, name: string, signal: AbortSignal): Promise<RouterRow | undefined> {
  const isOld = router.state().facts?.softwareVersion?.startsWith('6.') ?? false;
  const command = isOld ? { path: '/interface/lte/info', argument: 'number' } : { path: '/interface/lte/monitor' };
  return (await sampleItems(router, { ...command, names: [name] }, signal))?.[0];
}

/** A modem that is still searching, or that no network lets in. Other words, and none, say nothing. */
function isUnregistered(row: RouterRow): boolean {
  return ['not registered', 'not-registered', 'searching', 'denied'].includes(row['registration-status'] ?? '');
}

async function readAccessPoints(router: RouterAdapter, signal: AbortSignal): Promise<Signals | undefined> {
  const menu = '/interface/wireless/registration-table';
  const rows = await readMenu(
    router,
    { menu, properties: ['interface', 'ap', 'signal-strength'], where: { property: 'ap', anyOf: ['true'] }, flags: {} },
    signal,
  );
  const links = rows?.filter((row) => isTrue(row['ap'])).flatMap((row): Signals => {
    const dbm = leadingNumber(row['signal-strength']);
    return dbm === undefined ? [] : [{ interface: cleanText(row['interface'] ?? '', 128), kind: 'wireless', dbm }];
  });
  return links?.slice(0, MAX_SENSORS);
}

/** Disks whose state is a bad one; an empty list where all are well. @returns undefined where there is no such menu */
export async function readBadDisks(router: RouterAdapter, signal: AbortSignal): Promise<Disks | undefined> {
  if (!router.hasApi) return undefined;
  const properties = ['slot', 'state', 'raid-state', 'raid-member-failed'];
  const rows = await readMenu(router, { menu: '/disk', properties, flags: {} }, signal);
  const bad = rows?.flatMap((row): Disks => {
    const word = badWord(row);
    return word === undefined ? [] : [{ name: cleanText(row['slot'] ?? '', 64), state: word }];
  });
  return bad?.slice(0, MAX_SENSORS);
}

function badWord(row: RouterRow): string | undefined {
  if (isTrue(row['raid-member-failed'])) return 'raid-member-failed';
  const words = [row['state'], row['raid-state']].map((state) => cleanText(state ?? '', 64));
  return words.find((state) => /fail|error|degraded|missing/.test(state));
}

/** Names of a menu's enabled items; undefined when there is no menu, no item, or no API to ask by. */
async function listNames(
  router: RouterAdapter,
  reading: { menu: string; properties: string[] },
  signal: AbortSignal,
): Promise<string[] | undefined> {
  if (!router.hasApi) return undefined;
  const rows = await readMenu(router, { ...reading, flags: {} }, signal);
  // A comma would be two names to the router.
  const enabled = rows?.filter((row) => !isTrue(row['disabled']));
  const names = enabled?.map((row) => row['name'] ?? '').filter((name) => name !== '' && !name.includes(','));
  return names === undefined || names.length === 0 ? undefined : names;
}
