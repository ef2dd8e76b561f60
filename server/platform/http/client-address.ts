import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** @param hop 0 for the address that connected to us, 1 for the one before it in X-Forwarded-For, and so on */
export type IsTrustedProxy = (address: string, hop: number) => boolean;

/** @param trusted addresses and CIDRs of our own proxies, validated by the configuration */
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
 * Trusts only the directly connected peer as a proxy: the client is the last address in X-Forwarded-For, which the proxy has
 * added. Were every hop trusted, a client could choose its address by sending the header.
 */
const oneProxy: IsTrustedProxy = (_address, hop) => hop === 0;

/** @param trustProxy the setting: addresses of proxies, or true if every direct peer is one */
export function proxyRule(trustProxy: boolean | readonly string[]): IsTrustedProxy {
  if (typeof trustProxy !== 'boolean') return trustedProxies(trustProxy);
  return trustProxy ? oneProxy : () => false;
}

/**
 * The client of a request that Fastify does not see (a WebSocket upgrade): the last address in X-Forwarded-For that
 * is not one of our own proxies. Entries that the client added itself are further left and not trusted.
 */
export function clientAddress(request: IncomingMessage, isTrusted: IsTrustedProxy): string {
  let address = request.socket.remoteAddress ?? '';
  const hops = readHops(request.headers['x-forwarded-for']);
  for (let hop = 0; isTrusted(address, hop); hop += 1) {
    const previous = hops.pop();
    if (previous === undefined) break;
    address = previous;
  }
  return isIP(address) === 6 ? ipaddr.process(address).toString() : address;
}

/**
 * Reduces the header to what {@link clientAddress} reads, so that Fastify finds the same client. Fastify accepts any text as an
 * address: one with a port, as some proxies write it, would be a new client with its own rate limit at every connection.
 */
export function keepAddresses(headers: IncomingHttpHeaders): void {
  if (headers['x-forwarded-for'] === undefined) return;
  const hops = readHops(headers['x-forwarded-for']);
  if (hops.length > 0) headers['x-forwarded-for'] = hops.join(', ');
  else delete headers['x-forwarded-for'];
}

/** The addresses after the last invalid entry, without ports. */
function readHops(header: string | string[] = ''): string[] {
  const entries = (Array.isArray(header) ? header.join(',') : header).split(',').map((entry) => withoutPort(entry.trim()));
  return entries.slice(entries.findLastIndex((entry) => isIP(entry) === 0) + 1);
}

/** `203.0.113.9:50123` and `[2001:db8::7]:50123`. */
function withoutPort(entry: string): string {
  const [, ipv4, ipv6] = /^(?:([\d.]+):\d+|\[([^\]]*)\](?::\d+)?)$/.exec(entry) ?? [];
  return ipv4 ?? ipv6 ?? entry;
}
