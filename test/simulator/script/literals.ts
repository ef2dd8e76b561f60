import { num, str, type Value } from './values.ts';

const ipPattern = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/;
const unitTime = /^(?:(\d+)w)?(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+)s)?(?:(\d+)ms)?$/;
const clockTime = /^(?:(\d+)w)?(?:(\d+)d)?(\d{1,2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?$/;

/** The typed value of an unquoted word, as the console reads it: `5`, `yes`, `10m`, `10.0.0.1/24`, `*1A`, else text. */
export function parseLiteral(word: string): Value {
  if (word === 'true' || word === 'yes') return { type: 'bool', truth: true, text: word };
  if (word === 'false' || word === 'no') return { type: 'bool', truth: false, text: word };
  if (/^\*[0-9A-Fa-f]+$/.test(word)) return { type: 'id', text: word };
  return parseNumber(word) ?? parseTime(word) ?? parseAddress(word) ?? str(word);
}

export function parseNumber(word: string): Value | undefined {
  if (/^-?\d{1,19}$/.test(word)) return num(BigInt(word));
  return /^0x[0-9A-Fa-f]{1,16}$/.test(word) ? num(BigInt(word)) : undefined;
}

/** Both spellings: `1w2d3h4m5s6ms` and `1w2d03:04:05.006`. */
export function parseTime(word: string): Value | undefined {
  if (!/^\d/.test(word)) return undefined;
  const units = unitTime.exec(word);
  if (units !== null) return { type: 'time', ms: sum(units.slice(1), [604_800_000, 86_400_000, 3_600_000, 60_000, 1000, 1]) };
  const clock = clockTime.exec(word);
  if (clock === null) return undefined;
  const whole = sum(clock.slice(1, 6), [604_800_000, 86_400_000, 3_600_000, 60_000, 1000]);
  return { type: 'time', ms: whole + Math.floor(Number(`0.${clock[6] ?? '0'}`) * 1000) };
}

function sum(parts: readonly (string | undefined)[], units: readonly number[]): number {
  return parts.reduce((total, part, index) => total + Number(part ?? 0) * (units[index] ?? 0), 0);
}

export function parseAddress(word: string): Value | undefined {
  const number = parseIp(word);
  if (number !== undefined) return { type: 'ip', number };
  const [address, length, ...rest] = word.split('/');
  if (rest.length > 0 || address === undefined) return undefined;
  if (length !== undefined && !/^\d{1,3}$/.test(length)) return undefined;
  if (length !== undefined && parseIp(address) !== undefined) return { type: 'ip-prefix', text: word };
  // A MAC address also consists of hex and colons, but never has an empty or a seventh group.
  const looksV6 = /^[0-9A-Fa-f:]+$/.test(address) && (address.includes('::') || address.split(':').length === 8);
  if (!looksV6) return undefined;
  return { type: length === undefined ? 'ip6' : 'ip6-prefix', text: word };
}

export function parseIp(word: string): number | undefined {
  const match = ipPattern.exec(word);
  if (match === null) return undefined;
  const bytes = match.slice(1).map(Number);
  if (bytes.some((byte) => byte > 255)) return undefined;
  return bytes.reduce((total, byte) => total * 256 + byte, 0);
}

/** Properties that are text even if they look like a number, a time or an address. */
const textProperties = new Set([
  'name',
  'comment',
  'host-name',
  'mac-address',
  'version',
  'identity',
  'source',
  'on-event',
  'user',
  'owner',
  'group',
  'message',
  'serial-number',
  'software-id',
  'model',
  'client-id',
  'log-prefix',
  'contents',
  'password',
  'script',
]);

/** A property text of a menu as `get`, `find` and `print as-value` see it. */
export function propertyValue(name: string, text: string): Value {
  if (textProperties.has(name) || text === 'yes' || text === 'no') return str(text);
  return parseLiteral(text);
}
