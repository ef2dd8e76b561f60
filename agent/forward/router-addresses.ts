import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { Deadline, RouterAdapter } from '../routers/adapter.ts';

/**
 * Is this address the router itself? Its configured host is; so are the addresses on its interfaces. Its loopback is
 * not: dialled by the agent it would be the agent's own.
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

/** Only a help in choosing: a router that does not tell is treated as having none. */
async function addressesOnInterfaces(router: RouterAdapter, deadline: Deadline): Promise<string[]> {
  if (!router.hasApi) return [];
  try {
    const { rows } = await router.command({ path: '/ip/address/print', words: ['=.proplist=address,disabled'] }, deadline);
    return rows.filter((row) => row['disabled'] !== 'true').map((row) => row['address']?.split('/')[0] ?? '');
  } catch {
    return [];
  }
}
