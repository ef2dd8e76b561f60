/** Values that RouterOS brings into a form of its own: networks, ranges, rates, zones. Undefined: not such a value. */
import { compareAddresses, networkOf, parseAddress, parsePrefix } from '../addresses.ts';
import { Trap } from './types.ts';

/** `10.1.2.3/24` is the network `10.1.2.0/24`; a lone address is a network of one. */
export function readNetwork(value: string): string | undefined {
  const prefix = parsePrefix(value);
  return prefix ? `${networkOf(prefix)}/${prefix.length}` : undefined;
}

/** The same as rules print it: a network of one is just the address. */
export function shortNetwork(value: string): string | undefined {
  return readNetwork(value)?.replace(/^([\d.]+)\/32$/, '$1');
}

/** `first-last`, a network or an address. The last must not come before the first. */
export function readRange(value: string): string | undefined {
  const [first = '', last, ...rest] = value.split('-');
  if (last === undefined) return shortNetwork(value);
  const from = parseAddress(first);
  if (!from) throw new Trap("value of range must have ip address before '-'", 1);
  const to = parseAddress(last);
  if (!to || rest.length > 0 || from.kind() !== to.kind() || compareAddresses(from, to) > 0) return undefined;
  return `${from.toString()}-${to.toString()}`;
}

/** An entry of an address list: network, range or a name that the router resolves. */
export function readListed(value: string): string | undefined {
  if (/^[\d.]+-/.test(value)) return readRange(value);
  return shortNetwork(value) ?? (isDnsName(value) ? value : undefined);
}

export function readHost(value: string): string | undefined {
  return parseAddress(value)?.toString() ?? (isDnsName(value) ? value : undefined);
}

/** A name with a letter in its last part: `999.1.1.1` is no name, but a wrong address. */
function isDnsName(value: string): boolean {
  const labels = value.replace(/\.$/, '').split('.');
  return value.length <= 253 && labels.every((label) => /^[\w-]{1,63}$/.test(label)) && /[A-Za-z]/.test(labels.at(-1) ?? '');
}

/** An address, also `address%interface` or `address@table`. */
export function readGateway(value: string): string | undefined {
  const [, address = '', rest = ''] = /^([^%@]+)((?:[%@].+)?)$/.exec(value) ?? [];
  const read = parseAddress(address)?.toString();
  return read === undefined ? undefined : `${read}${rest}`;
}

const RATE_UNITS: readonly (readonly [string, number])[] = [
  ['G', 1e9],
  ['M', 1e6],
  ['k', 1e3],
];

/** Bits per second in the largest unit that divides them: `5000k` is `5M`. */
export function readRate(value: string): string | undefined {
  const match = /^(\d+(?:\.\d+)?)([kMG]?)$/i.exec(value);
  if (!match) return undefined;
  const unit = RATE_UNITS.find(([name]) => name.toLowerCase() === match[2]?.toLowerCase())?.[1] ?? 1;
  const bits = Math.round(Number(match[1]) * unit);
  if (bits > 0xffff_ffff_ffff) return undefined;
  const [name, size] = RATE_UNITS.find(([, each]) => bits > 0 && bits % each === 0) ?? ['', 1];
  return `${bits / size}${name}`;
}

const ZONES = new Map(Intl.supportedValuesOf('timeZone').map((zone) => [zone.toLowerCase(), zone]));

/** Names of the time zone database, with their capitals, and `manual`. Zones with an older name too are known by both. */
export function readTimeZone(value: string, name: string): string {
  const known = ZONES.get(value.toLowerCase());
  if (value === 'manual' || value === 'UTC' || known === value) return value;
  if (known === undefined && /^[A-Z]/.test(value) && isZone(value)) return value;
  throw new Trap(`input does not match any value of ${name}`, 1);
}

function isZone(value: string): boolean {
  try {
    return new Intl.DateTimeFormat('en-GB', { timeZone: value }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

export function readUrl(value: string): string | undefined {
  return /^[a-z][a-z0-9+.-]*:\/\/[^\s/]+/i.test(value) ? value : undefined;
}
