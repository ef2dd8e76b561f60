/** The world around the router: which addresses answer, and what names mean. */
import { parseAddress } from './addresses.ts';
import type { RouterState } from './state.ts';

/** Hosts that answer the router: its own addresses, its neighbours, and hosts that a test has named. */
export function isReachable(router: RouterState, address: string): boolean {
  const own = router.table('/ip/address').items.some(({ values }) => values.get('address')?.split('/')[0] === address);
  const neighbour = router.table('/ip/arp').find('address', address)?.values.get('complete') === 'true';
  return own || neighbour || address.startsWith('127.') || router.options.hosts[address] !== undefined;
}

/** The address of a name: one itself, a static DNS entry, or a name a test has made known. No other DNS is asked. */
export function resolveName(router: RouterState, name: string): string | undefined {
  if (parseAddress(name)) return name;
  const entries = router.table('/ip/dns/static').items.filter(({ values }) => values.get('disabled') !== 'true');
  const known = entries.find(({ values }) => values.get('name')?.toLowerCase() === name.toLowerCase())?.values.get('address');
  return known ?? router.options.names[name.toLowerCase()] ?? (name === 'localhost' ? '127.0.0.1' : undefined);
}
