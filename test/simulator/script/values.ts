import type { Entry, Value } from './ast.ts';

export type { Entry, Value } from './ast.ts';

export const nothing: Value = { type: 'nothing' };
export const nil: Value = { type: 'nil' };
export const str = (text: string): Value => ({ type: 'str', text });
export const num = (number: number | bigint): Value => ({ type: 'num', number: BigInt.asIntN(64, BigInt(number)) });
export const bool = (truth: boolean): Value => ({ type: 'bool', truth, text: truth ? 'true' : 'false' });
export const list = (values: readonly Value[]): Value => ({ type: 'array', entries: values.map((value) => ({ value })) });

/** True for values that mean "no value". */
export function isUnset(value: Value): boolean {
  return value.type === 'nothing' || value.type === 'nil';
}

/** What `:put`, `.` and `"$x"` make of a value. */
export function toText(value: Value): string {
  switch (value.type) {
    case 'nothing':
    case 'nil':
      return '';
    case 'str':
    case 'bool':
    case 'ip-prefix':
    case 'ip6':
    case 'ip6-prefix':
    case 'id':
    case 'code':
      return value.text;
    case 'num':
      return value.number.toString();
    case 'time':
      return formatTime(value.ms);
    case 'ip':
      return formatIp(value.number);
    case 'array':
      return value.entries.map(entryText).join(';');
  }
}

function entryText(entry: Entry): string {
  const text = toText(entry.value);
  return entry.key === undefined ? text : `${entry.key}=${text}`;
}

/** A value as a menu property or a menu parameter wants it: lists with commas. */
export function toAttribute(value: Value): string {
  if (value.type === 'array') return value.entries.map((entry) => toAttribute(entry.value)).join(',');
  if (value.type === 'code') return value.source;
  return toText(value);
}

/** The entries of a list; a single value is a list of one, no value an empty list. */
export function entriesOf(value: Value): readonly Entry[] {
  if (value.type === 'array') return value.entries;
  return isUnset(value) ? [] : [{ value }];
}

/** `1w3d15:41:57`, `00:00:00.500`: how the console prints a duration (not how the API does). */
export function formatTime(ms: number): string {
  const sign = ms < 0 ? '-' : '';
  let rest = Math.abs(ms);
  const take = (unit: number): number => {
    const count = Math.floor(rest / unit);
    rest -= count * unit;
    return count;
  };
  const weeks = take(604_800_000);
  const days = take(86_400_000);
  const clock = [take(3_600_000), take(60_000), take(1000)].map((part) => String(part).padStart(2, '0')).join(':');
  const fraction = rest === 0 ? '' : `.${String(Math.floor(rest)).padStart(3, '0')}`;
  return `${sign}${weeks === 0 ? '' : `${weeks}w`}${days === 0 ? '' : `${days}d`}${clock}${fraction}`;
}

export function formatIp(number: number): string {
  return [24, 16, 8, 0].map((shift) => (number >>> shift) & 255).join('.');
}
