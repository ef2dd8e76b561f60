import { parseIp } from './literals.ts';
import { isUnset, toText, type Value } from './values.ts';
import { ValueFailure } from './errors.ts';

/** Equality as conditions and `where` use it: across types the printed texts are compared, no value equals "". */
export function isEqual(left: Value, right: Value): boolean {
  if (left.type === 'bool' || right.type === 'bool') return comparable(left) === comparable(right);
  return toText(left) === toText(right);
}

function comparable(value: Value): string {
  const text = toText(value);
  if (text === 'yes') return 'true';
  return text === 'no' ? 'false' : text;
}

/** Less than zero, zero or more, as in a sort. Numbers, times and addresses by value, all else by its bytes. */
export function order(left: Value, right: Value): number {
  const [a, b] = [magnitude(left), magnitude(right)];
  if (a !== undefined && b !== undefined) return a < b ? -1 : Number(a > b);
  return Buffer.compare(Buffer.from(toText(left)), Buffer.from(toText(right)));
}

function magnitude(value: Value): bigint | number | undefined {
  if (value.type === 'num') return value.number;
  if (value.type === 'time') return value.ms / 1000;
  if (value.type === 'ip') return value.number;
  return value.type === 'id' ? Number.parseInt(value.text.slice(1), 16) : undefined;
}

/** A condition of `:if` and `:while`: only booleans will do. */
export function condition(value: Value): boolean {
  if (value.type === 'bool') return value.truth;
  if (value.type === 'str' && (value.text === 'true' || value.text === 'yes')) return true;
  if (value.type === 'str' && (value.text === 'false' || value.text === 'no')) return false;
  throw new ValueFailure('conditional not boolean');
}

/** A term of a `where`: a bare property name asks whether it is set. */
export function holds(value: Value): boolean {
  if (value.type === 'bool') return value.truth;
  return !isUnset(value) && toText(value) !== '';
}

/** POSIX extended regular expression, as close as JavaScript has it. Limited in length so that no pattern runs away. */
export function matches(subject: Value, pattern: Value): boolean {
  const text = toText(subject).slice(0, 4096);
  const source = toText(pattern)
    .slice(0, 1024)
    .replaceAll(/\[:(alpha|digit|alnum|space|upper|lower|xdigit|punct):\]/g, (_, name: string) => classes[name] ?? '');
  try {
    return new RegExp(source, 's').test(text);
  } catch {
    throw new ValueFailure('invalid regular expression');
  }
}

const classes: Readonly<Record<string, string>> = {
  alpha: 'A-Za-z',
  digit: '0-9',
  alnum: 'A-Za-z0-9',
  space: '\\s',
  upper: 'A-Z',
  lower: 'a-z',
  xdigit: '0-9A-Fa-f',
  punct: '!-\\/:-@\\[-`{-~',
};

/** `10.0.0.7 in 10.0.0.0/24`. */
export function isInside(left: Value, right: Value): boolean {
  if (right.type === 'array') return right.entries.some((entry) => isEqual(left, entry.value));
  const [address] = toText(left).split('/');
  const [network, length = '32'] = toText(right).split('/');
  const [ip, base] = [parseIp(address ?? ''), parseIp(network ?? '')];
  if (ip === undefined || base === undefined) return false;
  const size = 2 ** (32 - Number(length));
  return Math.floor(ip / size) === Math.floor(base / size);
}
