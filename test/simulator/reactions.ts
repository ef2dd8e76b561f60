/** What follows from a change elsewhere on the router. */
import { networkOf, parsePrefix } from './addresses.ts';
import { Expiries } from './expiries.ts';
import { recheckSessions } from './firewall.ts';
import type { Item } from './menu/table.ts';
import type { RouterState } from './state.ts';

const CAN_LOCK_OUT = ['/ip/firewall/filter', '/ip/firewall/address-list', '/ip/service', '/ip/address', '/interface', '/user'];

/** Watches what matters; the returned function stops it. */
export function startReactions(router: RouterState): () => void {
  let rechecking = false;
  // After the present turn, so that the command that locks its own user out is still answered.
  const recheck = (): void => {
    if (rechecking) return;
    rechecking = true;
    setImmediate(() => {
      rechecking = false;
      recheckSessions(router);
    });
  };
  const stops = CAN_LOCK_OUT.map((path) => router.table(path).watch(recheck));
  const routes = (): void => syncConnectedRoutes(router);
  stops.push(router.table('/ip/address').watch(routes), router.table('/interface').watch(routes));
  const table = router.table('/ip/firewall/address-list');
  const expiries = new Expiries(router, table);
  stops.push(() => expiries.stop());
  routes();
  return () => stops.forEach((stop) => stop());
}

/** Every usable address has its connected route; routes of addresses that are gone go too. */
function syncConnectedRoutes(router: RouterState): void {
  const table = router.table('/ip/route');
  const wanted = new Map(
    router
      .table('/ip/address')
      .items.filter((item) => isUsable(router, item))
      .map((item) => [item.id, item]),
  );
  for (const route of table.items.filter((item) => item.values.has('.address'))) {
    const address = wanted.get(route.values.get('.address') ?? '');
    const same = address && routeValues(router, address).every(([name, value]) => route.values.get(name) === value);
    if (same) wanted.delete(address.id);
    else table.remove(route);
  }
  for (const address of wanted.values()) table.add(routeValues(router, address), { dynamic: true });
}

function isUsable(router: RouterState, address: Item): boolean {
  const link = router.table('/interface').find('name', address.values.get('interface') ?? '');
  return address.values.get('disabled') !== 'true' && link !== undefined && link.values.get('disabled') !== 'true';
}

function routeValues(router: RouterState, address: Item): [string, string][] {
  const prefix = parsePrefix(address.values.get('address') ?? '');
  const name = address.values.get('interface') ?? '';
  const own = prefix?.address.toString() ?? '';
  const common: [string, string][] = [
    ['.address', address.id],
    ['dst-address', prefix ? `${networkOf(prefix)}/${prefix.length}` : ''],
    ['gateway', name],
    ['distance', '0'],
    ['scope', '10'],
    ['active', 'true'],
    ['connect', 'true'],
  ];
  if (router.version.major < 7) return [...common, ['pref-src', own], ['gateway-status', `${name} reachable`]];
  return [...common, ['routing-table', 'main'], ['immediate-gw', name], ['local-address', `${own}%${name}`]];
}
