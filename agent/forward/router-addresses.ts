import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { Deadline, RouterAdapter } from '../routers/adapter.ts';

/**
 * Whether an address is the router itself: its configured host or an address of its interfaces. Loopback is not, because the agent
 * would dial its own.
 */
export async function isRouterItself(router: RouterAdapter, host: string, deadline: Deadline): Promise<boolean> {
  const wanted = ipaddr.process(host).toString();
  const [configured, own] = await Promise.all([addressesOfHost(router.host), addressesOnInterfaces(router, deadline)]);
  if (configured.includes(wanted)) return true;
  return ipaddr.process(host).range() !== 'loopback' && own.includes(wanted);
}

async function addressesOfHost(host: string): Promise<string[]> {
  if (isIP(host) !== 0) return [ipaddr.process(host).toString()];
  try {
    return (await lookup(host, { all: true })).map(({ address }) => ipaddr.process(address).toString());
  } catch {
    return [];
  }
}

/** Only a hint for the choice of the way: empty when the router does not answer. */
async function addressesOnInterfaces(router: RouterAdapter, deadline: Deadline): Promise<string[]> {
  if (!router.hasApi) return [];
  try {
    const { rows } = await router.command({ path: '/ip/address/print', words: ['=.proplist=address,disabled'] }, deadline);
    return rows.filter((row) => row['disabled'] !== 'true').map((row) => row['address']?.split('/')[0] ?? '');
  } catch {
    return [];
  }
}
