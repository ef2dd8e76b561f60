import { ValueFailure } from './errors.ts';
import { parseAddress, parseLiteral, parseNumber, parseTime } from './literals.ts';
import { toNumber } from './operators.ts';
import { bool, isUnset, list, nil, nothing, num, str, toText, type Entry, type Value } from './values.ts';

/** `:tonum`, `:tostr`, …: what cannot be converted becomes nil. */
export const conversions: Readonly<Record<string, (value: Value) => Value>> = {
  tostr: (value) => (isUnset(value) ? nothing : str(toText(value))),
  tonum: (value) => {
    const number = toNumber(value);
    return number === undefined ? nil : num(number);
  },
  tobool: (value) => (value.type === 'bool' ? value : toBool(value)),
  toarray: (value) => (value.type === 'array' ? value : splitList(toText(value))),
  toip: (value) => only(['ip'], parseAddress(toText(value))),
  toip6: (value) => only(['ip6'], parseAddress(toText(value))),
  totime: (value) => (value.type === 'num' ? { type: 'time', ms: Number(value.number) * 1000 } : (parseTime(toText(value)) ?? nil)),
  toid: (value) => only(['id'], parseLiteral(toText(value))),
};

function toBool(value: Value): Value {
  const text = toText(value);
  if (text === 'true' || text === 'yes') return bool(true);
  if (text === 'false' || text === 'no') return bool(false);
  const number = parseNumber(text);
  return number?.type === 'num' ? bool(number.number !== 0n) : nil;
}

function splitList(text: string): Value {
  return list(text === '' ? [] : text.split(',').map(parseLiteral));
}

function only(types: readonly Value['type'][], value: Value | undefined): Value {
  return value !== undefined && types.includes(value.type) ? value : nil;
}

/** `:len`: entries of a list, bytes of a text. */
export function lengthOf(value: Value): number {
  return value.type === 'array' ? value.entries.length : Buffer.byteLength(toText(value));
}

/** `:pick from begin [end]`: characters of a text or entries of a list. */
export function pick(value: Value, begin: Value, end: Value): Value {
  const from = toNumber(begin);
  if (from === undefined) throw new ValueFailure('invalid value for argument begin');
  const until = isUnset(end) ? from + 1n : toNumber(end);
  if (until === undefined) throw new ValueFailure('invalid value for argument end');
  const range: [number, number] = [Math.max(0, Number(from)), Math.max(0, Number(until))];
  if (value.type !== 'array') {
    const text = toText(value);
    return range[0] >= text.length && range[0] > 0 ? nil : str(text.slice(...range));
  }
  return isUnset(end) ? (value.entries[range[0]]?.value ?? nil) : { type: 'array', entries: value.entries.slice(...range) };
}

/** `:find where what [from]`: the first place after `from`, or nil. */
export function findIn(value: Value, what: Value, from: Value): Value {
  const start = isUnset(from) ? 0 : Number(toNumber(from) ?? -1n) + 1;
  const at =
    value.type === 'array'
      ? value.entries.findIndex((entry, index) => index >= start && toText(entry.value) === toText(what))
      : toText(value).indexOf(toText(what), start);
  return at < 0 ? nil : num(at);
}

/** A value as JSON text (`:serialize to=json`). */
export function toJson(value: Value): unknown {
  if (value.type === 'num') return Number(value.number);
  if (value.type === 'bool') return value.truth;
  if (value.type !== 'array') return isUnset(value) ? null : toText(value);
  const keyed = value.entries.some((entry) => entry.key !== undefined);
  if (!keyed) return value.entries.map((entry) => toJson(entry.value));
  return Object.fromEntries(value.entries.map((entry, index) => [entry.key ?? String(index), toJson(entry.value)]));
}

/** The value of a JSON document (`:deserialize from=json`). */
export function fromJson(json: unknown): Value {
  if (typeof json === 'number') return Number.isInteger(json) ? num(json) : str(String(json));
  if (typeof json === 'boolean') return bool(json);
  if (typeof json === 'string') return str(json);
  if (typeof json !== 'object' || json === null) return nothing;
  if (Array.isArray(json)) return list(json.map(fromJson));
  return { type: 'array', entries: Object.entries(json).map(([key, value]): Entry => ({ key, value: fromJson(value) })) };
}

/** The name `:typeof` has for a value. */
export function typeName(value: Value): string {
  return value.type;
}

/** Keys and values of a list, sorted as `:environment print` shows them. */
export function sortedEntries(map: ReadonlyMap<string, Value>): [string, Value][] {
  return [...map].sort(([a], [b]) => (a < b ? -1 : 1));
}
