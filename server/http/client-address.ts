import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

export type IsTrustedProxy = (address: string) => boolean;

/** @param trusted addresses and CIDRs of our own proxies, checked by the configuration */
export function trustedProxies(trusted: readonly string[]): IsTrustedProxy {
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
 * Who really sent a request that Fastify does not see (a WebSocket upgrade): the last address in X-Forwarded-For that
 * is not one of our own proxies. What a stranger writes into the header himself stands further left and is not believed.
 */
export function clientAddress(request: IncomingMessage, isTrusted: IsTrustedProxy): string {
  let address = request.socket.remoteAddress ?? '';
  const header = request.headers['x-forwarded-for'];
  const hops = (Array.isArray(header) ? header.join(',') : (header ?? '')).split(',').map((hop) => hop.trim());
  while (isTrusted(address)) {
    const previous = hops.pop();
    if (previous === undefined || isIP(previous) === 0) break;
    address = previous;
  }
  return isIP(address) === 6 ? ipaddr.process(address).toString() : address;
}
