import { Resolver } from 'node:dns/promises';
import { isIPv4 } from 'node:net';
import type { LookupFunction } from 'node:net';
import { isLocalhostName, mayConnect } from '../core/public-address.ts';
import type { AddressRules } from '../core/public-address.ts';
import { TargetRefused } from './target.ts';

/** All addresses of a name. */
export type ResolveName = (hostname: string) => Promise<string[]>;

const LOCALHOST = ['127.0.0.1', '::1'];
/** Two tries of this length take less time than an attempt may. */
const DNS_TIMEOUT_MS = 2500;

/**
 * Queries only the system's name servers: `/etc/hosts` has internal names. Unlike `dns.lookup` it does not
 * use one of the few threads that files and passwords need, so a hanging name server delays nothing else.
 */
export function nameServerResolver(): ResolveName {
  const resolver = new Resolver({ timeout: DNS_TIMEOUT_MS, tries: 2 });
  return async (hostname) => {
    const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    if (addresses.length > 0) return addresses;
    throw Object.assign(new Error(`${hostname} has no address`), { code: 'ENOTFOUND' });
  };
}

/**
 * The look-up function of a socket. It returns only permitted addresses, so there is no second look-up
 * between check and connection that could differ (DNS rebinding).
 * @param onFound gets the addresses before the connection is made
 */
export function guardedLookup(
  resolve: ResolveName,
  rules: AddressRules,
  onFound?: (hostname: string, addresses: readonly string[]) => void,
): LookupFunction {
  return (hostname, options, callback) => {
    void answer(hostname, options.all === true, callback);
  };

  async function answer(hostname: string, all: boolean, callback: Parameters<LookupFunction>[2]): Promise<void> {
    const found = await allowedAddresses(hostname, resolve, rules).catch((error: Error) => error);
    if (found instanceof Error) {
      callback(found, '', 0);
      return;
    }
    onFound?.(
      hostname,
      found.map(({ address }) => address),
    );
    if (all) callback(null, found);
    else callback(null, found[0]!.address, found[0]!.family);
  }
}

async function allowedAddresses(
  hostname: string,
  resolve: ResolveName,
  rules: AddressRules,
): Promise<{ address: string; family: number }[]> {
  const addresses = isLocalhostName(hostname) ? LOCALHOST : await resolve(hostname);
  const allowed = addresses.filter((address) => mayConnect(hostname, address, rules));
  if (allowed.length === 0) throw new TargetRefused('address_refused', 'the name has no permitted address');
  return allowed.map((address) => ({ address, family: isIPv4(address) ? 4 : 6 }));
}
