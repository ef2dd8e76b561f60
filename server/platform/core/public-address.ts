import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Which addresses strangers may have this program connect to. Pure. */

export interface AddressRules {
  /** Lets https and http reach this very machine: for development. */
  allowLoopback: boolean;
}

/** Everything that is public in IPv6 (RFC 4291 section 2.4); what lies outside has no range of its own in ipaddr.js. */
const GLOBAL_IPV6 = ipaddr.parseCIDR('2000::/3') as [ipaddr.IPv6, number];

/**
 * Whether an address belongs to the public internet. Private, loopback, link-local (with the metadata services of
 * clouds), shared, reserved and multicast ones do not, nor do those that carry an IPv4 address inside (mapped, NAT64,
 * 6to4, Teredo): they lead wherever that leads.
 */
export function isPublicAddress(text: string): boolean {
  if (isIP(text) === 0 || text.includes('%')) return false;
  const address = ipaddr.parse(text);
  if (address.range() !== 'unicast') return false;
  return address instanceof ipaddr.IPv4 || address.match(GLOBAL_IPV6);
}

/** `localhost` and all below it are this machine without asking anyone (RFC 6761). */
export function isLocalhostName(hostname: string): boolean {
  return /^(?:.+\.)?localhost\.?$/i.test(hostname);
}

/** @param host a name, or an address with or without brackets */
export function isLoopbackHost(host: string): boolean {
  const bare = withoutBrackets(host);
  return isLocalhostName(bare) || (isIP(bare) !== 0 && ipaddr.parse(bare).range() === 'loopback');
}

/**
 * Whether a connection for `host` may be made to `address`. Loopback, where it is allowed at all, must have been asked
 * for by name: a foreign name that leads there is an attack.
 */
export function mayConnect(host: string, address: string, { allowLoopback }: AddressRules): boolean {
  return isPublicAddress(address) || (allowLoopback && isLoopbackHost(host) && isLoopbackHost(address));
}

/**
 * What can be said of the host of a URL before any look-up: false for an address that may not be connected to. URL has
 * brought the decimal, octal and hexadecimal spellings of an address to its usual form.
 */
export function mayNameHost(host: string, rules: AddressRules): boolean {
  const bare = withoutBrackets(host);
  if (isIP(bare) !== 0) return mayConnect(bare, bare, rules);
  return rules.allowLoopback || !isLocalhostName(bare);
}

function withoutBrackets(host: string): string {
  return host.replace(/^\[|\]$/g, '');
}
