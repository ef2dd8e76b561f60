import { MAX_WAN_INTERFACES } from '../../protocol/index.ts';
import type { HealthReadings } from '../../protocol/index.ts';
import type { RouterAdapter, RouterRow } from '../routers/adapter.ts';
import { Cleaner } from './cleaner.ts';
import { readMenu } from './menus.ts';
import { isTrue } from '../../routeros-text/values.ts';

const isOn = (row: RouterRow): boolean => !isTrue(row['disabled']);

/**
 * Names of the WAN interfaces: the members of the interface list WAN, which the default configuration has; else interfaces with a
 * default route by DHCP, and PPPoE clients.
 */
export async function findWanInterfaces(router: RouterAdapter, signal: AbortSignal): Promise<string[]> {
  const members = await readMenu(
    router,
    {
      menu: '/interface/list/member',
      properties: ['interface', 'disabled'],
      where: { property: 'list', anyOf: ['WAN'] },
      flags: { X: 'disabled' },
    },
    signal,
  );
  const listed = namesOf(members, 'interface');
  if (listed.length > 0) return listed;
  const clients = await readMenu(
    router,
    { menu: '/ip/dhcp-client', properties: ['interface', 'disabled', 'add-default-route'], flags: { X: 'disabled' } },
    signal,
  );
  const routed = clients?.filter((row) => row['add-default-route'] !== 'no' && row['add-default-route'] !== 'false');
  const pppoe = await readMenu(
    router,
    { menu: '/interface/pppoe-client', properties: ['name', 'disabled'], flags: { X: 'disabled' } },
    signal,
  );
  return [...namesOf(routed, 'interface'), ...namesOf(pppoe, 'name')].slice(0, MAX_WAN_INTERFACES);
}

function namesOf(rows: readonly RouterRow[] | undefined, property: string): string[] {
  const names = (rows ?? []).filter(isOn).map((row) => row[property] ?? '');
  return [...new Set(names)].filter((name) => name !== '').slice(0, MAX_WAN_INTERFACES);
}

/** Names that are safe in a query. */
const isPlain = (name: string): boolean => /^[\x20-\x7e]{1,128}$/.test(name);

/** Whether these interfaces are running. Omits disabled ones. */
export async function readWan(
  router: RouterAdapter,
  names: readonly string[],
  signal: AbortSignal,
  cleaner = new Cleaner(),
): Promise<HealthReadings['wan']> {
  if (names.length === 0) return [];
  const rows = await readMenu(
    router,
    {
      menu: '/interface',
      properties: ['name', 'running', 'disabled'],
      // A name that is not UTF-8 would change in the query: then all interfaces are read.
      ...(names.every(isPlain) ? { where: { property: 'name', anyOf: names } } : {}),
      flags: { R: 'running', X: 'disabled' },
    },
    signal,
  );
  return (rows ?? [])
    .filter((row) => isOn(row) && names.includes(row['name'] ?? ''))
    .slice(0, MAX_WAN_INTERFACES)
    .map((row) => ({ interface: cleaner.text(row['name']!, 128), running: isTrue(row['running']) }));
}
