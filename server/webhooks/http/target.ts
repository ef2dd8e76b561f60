import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { AttemptError, TargetRules } from '../types.ts';

/** Where updates may go. Pure; what is judged here is what is connected to, not what a name meant a moment before. */

/** Everything that is public in IPv6 (RFC 4291 section 2.4); what lies outside has no range of its own in ipaddr.js. */
const GLOBAL_IPV6 = ipaddr.parseCIDR('2000::/3') as [ipaddr.IPv6, number];

/** A target that must not be reached. */
export class TargetRefused extends Error {
  readonly word: AttemptError;

  constructor(word: 'url_refused' | 'address_refused', message: string) {
    super(message);
    this.name = 'TargetRefused';
    this.word = word;
  }
}

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
  const bare = host.replace(/^\[|\]$/g, '');
  return isLocalhostName(bare) || (isIP(bare) !== 0 && ipaddr.parse(bare).range() === 'loopback');
}

/**
 * Whether a connection for `host` may be made to `address`. Loopback, where it is allowed at all, must have been asked
 * for by name: a foreign name that leads there is an attack.
 */
export function mayConnect(host: string, address: string, { allowLoopback }: TargetRules): boolean {
  return isPublicAddress(address) || (allowLoopback && isLoopbackHost(host) && isLoopbackHost(address));
}

/**
 * Checks what can be known before any look-up: scheme, and the address where the URL has one. URL has brought the
 * decimal, octal and hexadecimal spellings of an address to its usual form.
 * @throws TargetRefused
 */
export function checkTarget(url: URL, rules: TargetRules): void {
  const isPlainLoopback = url.protocol === 'http:' && rules.allowLoopback && isLoopbackHost(url.hostname);
  if (url.protocol !== 'https:' && !isPlainLoopback) throw new TargetRefused('url_refused', 'only https is allowed');
  const bare = url.hostname.replace(/^\[|\]$/g, '');
  if (isIP(bare) !== 0 && !mayConnect(bare, bare, rules)) throw new TargetRefused('address_refused', 'the address is not a public one');
}
