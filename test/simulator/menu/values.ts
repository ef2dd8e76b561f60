/** Checks a value as typed and brings it into the form RouterOS prints. */
import { parseAddress, parsePorts, parsePrefix } from '../addresses.ts';
import { formatDuration, parseDate, parseDuration } from '../formats.ts';
import type { RouterState } from '../state.ts';
import type { ValueType } from './definition.ts';
import { Trap } from './types.ts';

export const ALL_POLICIES = [
  'local', 'telnet', 'ssh', 'ftp', 'reboot', 'read', 'write', 'policy', 'test', 'winbox', 'password', 'web', 'sniff', 'sensitive',
  'api', 'romon', 'rest-api', 'dude', 'tikapp',
] as const;

const INTERFACE_GROUPS = ['all', 'all-ethernet', 'all-wireless', 'all-vlan', 'all-ppp', 'dynamic', 'static', 'none'];

type Reader = (value: string, name: string, router: RouterState) => string | undefined;

const READERS: Readonly<Record<Exclude<ValueType, readonly string[]>, Reader>> = {
  text: (value) => value,
  bool: readBoolean,
  int: (value) => (/^\d+$/.test(value) ? String(Number(value)) : undefined),
  duration: readDuration,
  date: (value) => (parseDate(value) === undefined ? undefined : value.toLowerCase()),
  ip: (value) => parseAddress(value)?.toString(),
  prefix: readPrefix,
  addresses: (value) => (value === '' || value.split(',').every((part) => parsePrefix(part)) ? value : undefined),
  matcher: readMatcher,
  mac: readMac,
  interface: readInterface,
  'interface-matcher': readInterfaceMatcher,
  ports: (value) => (parsePorts(value) ? value : undefined),
  policies: readPolicies,
};

/** Throws the trap RouterOS sends for a bad value. */
export function readValue(type: ValueType, value: string, name: string, router: RouterState): string {
  if (typeof type !== 'string') {
    if (type.includes(value)) return value;
    throw noMatch(name);
  }
  const read = READERS[type](value, name, router);
  if (read === undefined) throw new Trap(`invalid value for argument ${name}`, 1);
  return read;
}

export function noMatch(name: string): Trap {
  return new Trap(`input does not match any value of ${name}`, 1);
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
  const plain = value.startsWith('!') ? value.slice(1) : value;
  const [from = '', to] = plain.split('-');
  if (to === undefined) return parsePrefix(plain) ? value : undefined;
  if (!parseAddress(from)) throw new Trap("value of range must have ip address before '-'", 1);
  return parseAddress(to) ? value : undefined;
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
