import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { invalidField } from '../../platform/core/errors.ts';

/** docs/interface.md: /24 to /32 is fixed; /48 to /128 is the counterpart for IPv6, one site at most. */
const PREFIX_LIMITS = { ipv4: { min: 24, max: 32 }, ipv6: { min: 48, max: 128 } } as const;

const PRIVATE_RANGES = new Set(['private', 'loopback', 'linkLocal', 'carrierGradeNat', 'uniqueLocal']);

/** Addresses reserved for documentation (RFC 5737, 3849). No client has one, so they are harmless. */
const DOCUMENTATION = ['192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24', '2001:db8::/32'].map((cidr) => ipaddr.parseCIDR(cidr));

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/**
 * The source network of a forward in network form: `203.0.113.7` becomes `203.0.113.7/32`, `198.51.100.9/24` becomes
 * `198.51.100.0/24`.
 * @throws AppError `invalid` naming allow_from
 */
export function normaliseSource(allowFrom: string, options: { allowPrivate: boolean }): string {
  const [addressText = '', prefixText, ...rest] = allowFrom.trim().split('/');
  if (rest.length > 0) throw invalidField('allow_from', 'must be one IP address or a CIDR');
  const address = parseAddress('allow_from', addressText);
  const kind = address.kind();
  const { min, max } = PREFIX_LIMITS[kind];
  const prefix = prefixText === undefined ? max : parsePrefix(prefixText);
  if (prefix === undefined || prefix < min || prefix > max) {
    throw invalidField('allow_from', `the prefix length must be from /${min} to /${max}`);
  }
  const refusal = sourceRefusal(address, options.allowPrivate);
  if (refusal) throw invalidField('allow_from', refusal);
  return `${networkAddress(address, prefix).toString()}/${prefix}`;
}

/** For a control plane whose clients are in its own network. Only its operator can do it. */
const HOW_TO_ALLOW = 'The operator of the control plane allows private ones by SIGNALBOX_ALLOW_PRIVATE_SOURCES=on';

function sourceRefusal(address: Address, allowPrivate: boolean): string | undefined {
  const range = address.range();
  if (range === 'unicast' || DOCUMENTATION.some((cidr) => matches(address, cidr))) return undefined;
  if (!PRIVATE_RANGES.has(range)) return `must be a public address, not a ${range} one`;
  return allowPrivate ? undefined : `must be a public address; this one is ${range}. ${HOW_TO_ALLOW}`;
}

/**
 * The destination in canonical form. Only addresses: the agent checks every destination against its own list of networks,
 * and a name could resolve to something else at any time.
 * @throws AppError `invalid` naming dst_address
 */
export function normaliseDestination(dstAddress: string): string {
  const address = parseAddress('dst_address', dstAddress.trim());
  const range = address.range();
  if (range === 'unspecified' || range === 'multicast' || range === 'broadcast') {
    throw invalidField('dst_address', `must be the address of one host, not a ${range} one`);
  }
  return address.toString();
}

/** `::ffff:1.2.3.4` is read as `1.2.3.4`. Short and octal forms are refused: programs disagree on what they mean. */
function parseAddress(field: string, text: string): Address {
  if (text.length > 64 || isIP(text) === 0 || text.includes('%')) throw invalidField(field, 'must be an IP address');
  return ipaddr.process(text);
}

function parsePrefix(text: string): number | undefined {
  return /^(?:0|[1-9]\d{0,2})$/.test(text) ? Number(text) : undefined;
}

function networkAddress(address: Address, prefix: number): Address {
  const cidr = `${address.toString()}/${prefix}`;
  return address.kind() === 'ipv4' ? ipaddr.IPv4.networkAddressFromCIDR(cidr) : ipaddr.IPv6.networkAddressFromCIDR(cidr);
}

/** Returns a check whether an address belongs to a network in CIDR form. It caches the last address, which often repeats. */
export function sourceMatcher(cidr: string): (address: string) => boolean {
  const network = ipaddr.parseCIDR(cidr);
  let last = { address: '', allowed: false };
  return (address) => {
    if (address !== last.address) {
      last = { address, allowed: isIP(address) !== 0 && matches(ipaddr.process(address), network) };
    }
    return last.allowed;
  };
}

function matches(address: Address, [network, prefix]: [Address, number]): boolean {
  if (address instanceof ipaddr.IPv4) return network instanceof ipaddr.IPv4 && address.match(network, prefix);
  return network instanceof ipaddr.IPv6 && address.match(network, prefix);
}
