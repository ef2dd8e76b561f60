import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** @param hop 0 for the address that connected to us, 1 for the one before it in X-Forwarded-For, and so on */
export type IsTrustedProxy = (address: string, hop: number) => boolean;

/** @param trusted addresses and CIDRs of our own proxies, checked by the configuration */
export function trustedProxies(trusted: readonly string[]): (address: string) => boolean {
  const ranges = trusted.map((text) => {
    const [address, bits] = text.split('/');
    const parsed = ipaddr.process(address!);
    return [parsed, bits === undefined ? parsed.toByteArray().length * 8 : Number(bits)] as const;
  });
  return (address) => {
    if (isIP(address) === 0) return false;
    const parsed = ipaddr.process(address);
    return ranges.some(([range, bits]) => range.kind() === parsed.kind() && parsed.match(range, bits));
  };
}

/**
 * Whoever connects is our proxy, and nobody before it is: the client is the last address in X-Forwarded-For, which the proxy
 * has written. Were every hop trusted, a stranger could choose an address by sending the header along.
 */
const oneProxy: IsTrustedProxy = (_address, hop) => hop === 0;

/** @param trustProxy the setting: addresses of proxies, or whether whoever connects is one */
export function proxyRule(trustProxy: boolean | readonly string[]): IsTrustedProxy {
  if (typeof trustProxy !== 'boolean') return trustedProxies(trustProxy);
  return trustProxy ? oneProxy : () => false;
}

/**
 * Who really sent a request that Fastify does not see (a WebSocket upgrade): the last address in X-Forwarded-For that
 * is not one of our own proxies. What a stranger writes into the header himself stands further left and is not believed.
 */
export function clientAddress(request: IncomingMessage, isTrusted: IsTrustedProxy): string {
  let address = request.socket.remoteAddress ?? '';
  const header = request.headers['x-forwarded-for'];
  const hops = (Array.isArray(header) ? header.join(',') : (header ?? '')).split(',').map((hop) => hop.trim());
  for (let hop = 0; isTrusted(address, hop); hop += 1) {
    const previous = hops.pop();
    if (previous === undefined || isIP(previous) === 0) break;
    address = previous;
  }
  return isIP(address) === 6 ? ipaddr.process(address).toString() : address;
}
