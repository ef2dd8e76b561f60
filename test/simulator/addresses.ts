/** IP address matching as firewall rules and /ip/address need it. */
import ipaddr from 'ipaddr.js';

export type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** Parses an address; an IPv4 address mapped into IPv6 counts as IPv4. */
export function parseAddress(text: string): Address | undefined {
  if (!ipaddr.isValid(text) || (!text.includes(':') && text.split('.').length !== 4)) return undefined;
  return ipaddr.process(text);
}

export interface Prefix {
  address: Address;
  length: number;
}

/** `a.b.c.d/n` or a bare address. */
export function parsePrefix(text: string): Prefix | undefined {
  const [host = '', bits] = text.split('/');
  const address = parseAddress(host);
  if (!address) return undefined;
  const widest = address.kind() === 'ipv4' ? 32 : 128;
  const length = bits === undefined ? widest : Number(bits);
  return /^\d{1,3}$/.test(bits ?? '0') && length <= widest ? { address, length } : undefined;
}

export function networkOf(prefix: Prefix): string {
  const bytes = prefix.address.toByteArray().map((byte, index) => {
    const kept = Math.min(8, Math.max(0, prefix.length - index * 8));
    return byte & (0xff << (8 - kept)) & 0xff;
  });
  return ipaddr.fromByteArray(bytes).toString();
}

/** Numeric order of two addresses of one kind; text order otherwise. */
export function compareAddresses(left: Address, right: Address): number {
  const [a, b] = [left.toByteArray(), right.toByteArray()];
  if (a.length !== b.length) return a.length - b.length;
  const index = a.findIndex((byte, position) => byte !== b[position]);
  return index < 0 ? 0 : (a[index] ?? 0) - (b[index] ?? 0);
}

/** A rule's address value (`10.0.0.0/8`, `10.0.0.1-10.0.0.9`, `!…`) against an address. */
export function matchesAddress(rule: string, text: string): boolean {
  if (rule.startsWith('!')) return !matchesAddress(rule.slice(1), text);
  const address = parseAddress(text);
  if (!address) return false;
  const [from = '', to] = rule.split('-');
  if (to !== undefined) return inRange(address, from, to);
  const prefix = parsePrefix(rule);
  if (!prefix || prefix.address.kind() !== address.kind()) return false;
  return networkOf({ address, length: prefix.length }) === networkOf(prefix);
}

function inRange(address: Address, from: string, to: string): boolean {
  const [low, high] = [parseAddress(from), parseAddress(to)];
  if (!low || !high) return false;
  return compareAddresses(address, low) >= 0 && compareAddresses(address, high) <= 0;
}

/** A rule's port value (`80`, `80,443`, `8000-8100`, `!…`) as ranges; undefined when it is none. */
export function parsePorts(text: string): { ranges: [number, number][]; negated: boolean } | undefined {
  const negated = text.startsWith('!');
  const ranges: [number, number][] = [];
  for (const part of (negated ? text.slice(1) : text).split(',')) {
    const match = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(part.trim());
    if (!match) return undefined;
    const low = Number(match[1]);
    const high = Number(match[2] ?? match[1]);
    if (low > high || high > 65_535) return undefined;
    ranges.push([low, high]);
  }
  return { ranges, negated };
}

export function matchesPort(rule: string, port: number): boolean {
  const parsed = parsePorts(rule);
  if (!parsed) return false;
  return parsed.ranges.some(([low, high]) => port >= low && port <= high) !== parsed.negated;
}
