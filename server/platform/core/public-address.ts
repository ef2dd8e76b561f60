import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Which addresses users may have this program connect to. */

export interface AddressRules {
  /** Allows http and https to this machine, for development. */
  allowLoopback: boolean;
  /** Networks of the operator that are allowed although they are not public, in CIDR notation; http is allowed there, too. */
  privateNetworks?: readonly string[];
  /** Refuses public addresses: a connection without TLS stays in the networks above. */
  noPublic?: boolean;
}

/** Global unicast in IPv6 (RFC 4291 section 2.4); ipaddr.js does not name the ranges outside it. */
const GLOBAL_IPV6 = ipaddr.parseCIDR('2000::/3') as [ipaddr.IPv6, number];

/**
 * Whether an address belongs to the public internet. Private, loopback, link-local (including cloud metadata
 * services), shared, reserved and multicast ones do not, nor do those that embed an IPv4 address (mapped, NAT64,
 * 6to4, Teredo), because they lead to that address.
 */
export function isPublicAddress(text: string): boolean {
  if (isIP(text) === 0 || text.includes('%')) return false;
  const address = ipaddr.parse(text);
  if (address.range() !== 'unicast') return false;
  return address instanceof ipaddr.IPv4 || address.match(GLOBAL_IPV6);
}

/** `localhost` and its subdomains are this machine without a DNS query (RFC 6761). */
export function isLocalhostName(hostname: string): boolean {
  return /^(?:.+\.)?localhost\.?$/i.test(hostname);
}

/** @param host a name, or an address with or without brackets */
export function isLoopbackHost(host: string): boolean {
  const bare = withoutBrackets(host);
  return isLocalhostName(bare) || (isIP(bare) !== 0 && ipaddr.parse(bare).range() === 'loopback');
}

/**
 * Whether a connection for `host` may be made to `address`. Loopback, if allowed at all, must be requested by name:
 * any other name that resolves to it is an attack.
 */
export function mayConnect(host: string, address: string, rules: AddressRules): boolean {
  if (isPublicAddress(address)) return rules.noPublic !== true;
  return isInNetworks(address, rules.privateNetworks) || (rules.allowLoopback && isLoopbackHost(host) && isLoopbackHost(address));
}

/**
 * Whether http without TLS may be tried for this host. For a name in the operator's networks it may: which address the name has is
 * checked when the connection is made, with `noPublic`.
 */
export function mayUsePlainHttp(host: string, rules: AddressRules): boolean {
  if (rules.allowLoopback && isLoopbackHost(host)) return true;
  const bare = withoutBrackets(host);
  if (isIP(bare) !== 0) return isInNetworks(bare, rules.privateNetworks);
  return (rules.privateNetworks ?? []).length > 0;
}

/** An IPv6 address that embeds an IPv4 one is in no IPv4 network: the operator has not named it. */
function isInNetworks(text: string, networks: readonly string[] | undefined): boolean {
  if (networks === undefined || isIP(text) === 0 || text.includes('%')) return false;
  const address = ipaddr.parse(text);
  return networks.some((network) => {
    const [base, bits] = ipaddr.parseCIDR(network.includes('/') ? network : `${network}/${isIP(network) === 4 ? 32 : 128}`);
    return base.kind() === address.kind() && address.match(base, bits);
  });
}

/**
 * Checks the host of a URL before any DNS query: false for an address that may not be connected to. URL has already
 * normalised decimal, octal and hexadecimal spellings of an address.
 */
export function mayNameHost(host: string, rules: AddressRules): boolean {
  const bare = withoutBrackets(host);
  if (isIP(bare) !== 0) return mayConnect(bare, bare, rules);
  return rules.allowLoopback || !isLocalhostName(bare);
}

function withoutBrackets(host: string): string {
  return host.replace(/^\[|\]$/g, '');
}
