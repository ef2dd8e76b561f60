/** Checks a value as typed and brings it into the form RouterOS prints. */
import { parsePorts, parseAddress, parsePrefix } from '../addresses.ts';
import { formatDuration, parseDate, parseDuration } from '../formats.ts';
import type { RouterState } from '../state.ts';
import type { PlainType, ValueType } from './definition.ts';
import { Trap } from './types.ts';
import {
  readGateway,
  readHost,
  readListed,
  readNetwork,
  readRange,
  readRate,
  readTimeZone,
  readUrl,
  shortNetwork,
} from './value-readers.ts';

export const ALL_POLICIES = [
  'local',
  'telnet',
  'ssh',
  'ftp',
  'reboot',
  'read',
  'write',
  'policy',
  'test',
  'winbox',
  'password',
  'web',
  'sniff',
  'sensitive',
  'api',
  'romon',
  'rest-api',
  'dude',
  'tikapp',
] as const;

const INTERFACE_GROUPS = ['all', 'all-ethernet', 'all-wireless', 'all-vlan', 'all-ppp', 'dynamic', 'static', 'none'];

/** RouterOS's numbers have 32 bits. */
const WIDEST = { from: 0, to: 0xffff_ffff };

type Reader = (value: string, name: string, router: RouterState) => string | undefined;

const READERS: Readonly<Record<PlainType, Reader>> = {
  text: (value) => value,
  bool: readBoolean,
  int: (value, name) => readNumber(WIDEST, value, name),
  duration: readDuration,
  date: (value) => (parseDate(value) === undefined ? undefined : value.toLowerCase()),
  ip: (value) => parseAddress(value)?.toString(),
  prefix: readPrefix,
  network: readNetwork,
  addresses: (value) => (value === '' || value.split(',').every((part) => parsePrefix(part)) ? value : undefined),
  matcher: readMatcher,
  listed: readListed,
  target: (value, name, router) => readNetwork(value) ?? interfaceExists(value, router),
  gateway: (value, name, router) => readGateway(value) ?? interfaceExists(value, router),
  range: readRange,
  host: readHost,
  rate: readRate,
  'time-zone': readTimeZone,
  // WireGuard's keys: 32 bytes in base64.
  key: (value) => (/^[\w+/]{43}=$/.test(value) ? value : undefined),
  url: readUrl,
  mac: readMac,
  interface: readInterface,
  'interface-matcher': readInterfaceMatcher,
  ports: (value) => (parsePorts(value) ? value : undefined),
  policies: readPolicies,
};

export const PLAIN_TYPES: readonly string[] = Object.keys(READERS);

/** The value in RouterOS's own form. Throws the trap RouterOS sends for a bad one. */
export function readValue(type: ValueType, value: string, name: string, router: RouterState): string {
  const read = typeof type === 'string' ? READERS[type](value, name, router) : readMade(type, value, name, router);
  if (read === undefined) throw new Trap(`invalid value for argument ${name}`, 1);
  return read;
}

export function noMatch(name: string): Trap {
  return new Trap(`input does not match any value of ${name}`, 1);
}

function readMade(type: Exclude<ValueType, PlainType>, value: string, name: string, router: RouterState): string | undefined {
  if ('from' in type) return readNumber(type, value, name);
  if ('listOf' in type) return readList(type.listOf, value, name, router);
  if ('pairOf' in type) return readPair(type.pairOf, value, name, router);
  if ('oneOf' in type) return readOneOf(type.oneOf, value, name, router);
  if ('ref' in type) return readReference(type.ref, value, name, router);
  if (type.includes(value)) return value;
  throw noMatch(name);
}

function readNumber({ from, to }: { from: number; to: number }, value: string, name: string): string | undefined {
  if (!/^-?\d+$/.test(value)) return undefined;
  const number = Number(value);
  if (number < from || number > to) throw new Trap(`value of ${name} out of range (${from}..${to})`, 1);
  return String(number);
}

function readList(type: ValueType, value: string, name: string, router: RouterState): string {
  return value === ''
    ? ''
    : value
        .split(',')
        .map((part) => readValue(type, part, name, router))
        .join(',');
}

function readPair(type: ValueType, value: string, name: string, router: RouterState): string | undefined {
  const parts = value.split('/').map((part) => readValue(type, part, name, router));
  return parts.length > 2 ? undefined : `${parts[0]}/${parts[1] ?? parts[0]}`;
}

/** A number out of range gets its own error; otherwise the first refusal counts. */
function readOneOf(types: readonly ValueType[], value: string, name: string, router: RouterState): string {
  let refusal: Trap | undefined;
  for (const type of types) {
    try {
      return readValue(type, value, name, router);
    } catch (error) {
      if (!(error instanceof Trap)) throw error;
      if (refusal === undefined || error.message.includes('out of range')) refusal = error;
    }
  }
  throw refusal ?? noMatch(name);
}

function readReference(path: string, value: string, name: string, router: RouterState): string {
  const table = router.table(path);
  const found = (value.startsWith('*') ? table.byId(value) : table.find('name', value))?.values.get('name');
  if (found === undefined) throw noMatch(name);
  return found;
}

function readBoolean(value: string): string | undefined {
  if (value === 'yes' || value === 'true') return 'true';
  return value === 'no' || value === 'false' ? 'false' : undefined;
}

function readDuration(value: string): string | undefined {
  if (value === 'none' || value === 'never' || value === 'auto' || value === 'default') return value;
  const ms = parseDuration(value);
  return ms === undefined ? undefined : formatDuration(ms);
}

function readPrefix(value: string): string | undefined {
  const prefix = parsePrefix(value);
  return prefix ? `${prefix.address.toString()}/${prefix.length}` : undefined;
}

function readMatcher(value: string): string | undefined {
  const negated = value.startsWith('!');
  const plain = negated ? value.slice(1) : value;
  const read = plain.includes('-') ? readRange(plain) : shortNetwork(plain);
  return read === undefined ? undefined : `${negated ? '!' : ''}${read}`;
}

function readMac(value: string): string | undefined {
  const digits = value.replace(/[:.-]/g, '').toUpperCase();
  if (!/^[0-9A-F]{12}$/.test(digits)) return undefined;
  return digits.match(/../g)?.join(':');
}

function interfaceExists(value: string, router: RouterState): string | undefined {
  const table = router.table('/interface');
  return (value.startsWith('*') ? table.byId(value) : table.find('name', value))?.values.get('name');
}

function readInterface(value: string, name: string, router: RouterState): string {
  const found = interfaceExists(value, router);
  if (found === undefined) throw noMatch(name);
  return found;
}

function readInterfaceMatcher(value: string, name: string, router: RouterState): string {
  const plain = value.replace(/^!/, '');
  if (name === 'list' || name.endsWith('-list')) {
    if (router.table('/interface/list').find('name', plain)) return value;
  } else if (INTERFACE_GROUPS.includes(plain) || interfaceExists(plain, router) !== undefined) return value;
  throw noMatch(name);
}

function readPolicies(value: string, name: string): string {
  const given = value.split(',').filter((policy) => policy !== '');
  for (const policy of given) {
    if (!(ALL_POLICIES as readonly string[]).includes(policy.replace(/^!/, ''))) throw noMatch(name);
  }
  return given.join(',');
}
