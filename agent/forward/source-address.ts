import { createSocket } from 'node:dgram';
import { lookup } from 'node:dns/promises';
import { isIPv4 } from 'node:net';
import { AgentError } from '../core/errors.ts';
import type { Deadline, RouterAdapter, RouterRow } from '../routers/adapter.ts';

/** Any port: nothing is sent to it. */
const ANY_PORT = 9;

/**
 * The agent's source address as the router sees it. Behind address translation it is taken from the router's list of active users;
 * otherwise it is the address that this machine uses towards the router.
 * @throws AgentError `router_unreachable`, `unsupported` for IPv6
 */
export async function sourceAddress(router: RouterAdapter, deadline: Deadline): Promise<string> {
  const local = await localAddress(router.host);
  const seen = await addressesOfApiUsers(router, deadline);
  return seen.length === 1 && !seen.includes(local) ? seen[0]! : local;
}

async function addressesOfApiUsers(router: RouterAdapter, deadline: Deadline): Promise<string[]> {
  try {
    const { rows } = await router.command({ path: '/user/active/print', words: ['=.proplist=name,address,via'] }, deadline);
    const isOurs = (row: RouterRow): boolean => row['via'] === 'api' && (router.apiUser === undefined || row['name'] === router.apiUser);
    return [...new Set(rows.filter(isOurs).map((row) => row['address'] ?? ''))].filter((address) => isIPv4(address));
  } catch {
    // Reading the list needs a policy that not every user has.
    return [];
  }
}

/** The local address of a connected UDP socket, which the kernel chooses by its routes. */
async function localAddress(host: string): Promise<string> {
  const { address, family } = await lookup(host, { family: 4 }).catch((error: unknown) => {
    throw new AgentError('unsupported', `the dst-nat way needs an IPv4 address of the router, ${host} has none`, { cause: error });
  });
  const socket = createSocket(family === 6 ? 'udp6' : 'udp4');
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once('error', reject);
      socket.connect(ANY_PORT, address, resolve);
    });
    return socket.address().address;
  } catch (error) {
    throw new AgentError('router_unreachable', 'there is no route to the router', { cause: error });
  } finally {
    socket.close();
  }
}
