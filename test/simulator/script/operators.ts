import type { BinaryOp } from './ast.ts';
import { isEqual, isInside, matches, order } from './comparisons.ts';
import { ValueFailure } from './errors.ts';
import { parseNumber } from './literals.ts';
import { bool, entriesOf, isUnset, nothing, num, str, toText, type Entry, type Value } from './values.ts';

/** Largest text and list a script may build: a router has no more memory than this to spare either. */
const maxText = 1_048_576;
const maxEntries = 65_536;

type Operator = (left: Value, right: Value) => Value;

const arithmetic: Readonly<Record<string, (a: bigint, b: bigint) => bigint>> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => a / divisor(b),
  '%': (a, b) => a % divisor(b),
  '|': (a, b) => a | b,
  '^': (a, b) => a ^ b,
  '&': (a, b) => a & b,
  '<<': (a, b) => a << (b & 63n),
  '>>': (a, b) => a >> (b & 63n),
};

const others: Readonly<Record<string, Operator>> = {
  '=': (left, right) => bool(isEqual(left, right)),
  '!=': (left, right) => bool(!isEqual(left, right)),
  '<': (left, right) => bool(order(left, right) < 0),
  '>': (left, right) => bool(order(left, right) > 0),
  '<=': (left, right) => bool(order(left, right) <= 0),
  '>=': (left, right) => bool(order(left, right) >= 0),
  '~': (left, right) => bool(matches(left, right)),
  in: (left, right) => bool(isInside(left, right)),
  '.': concatenate,
  ',': (left, right) => limited([...entriesOf(left), ...entriesOf(right)]),
  '->': pickEntry,
};

/** Everything but `&&` and `||`, which look at their right side only when needed. Throws ValueFailure. */
export function applyBinary(op: BinaryOp, left: Value, right: Value): Value {
  const operator = others[op];
  return operator === undefined ? calculate(op, left, right) : operator(left, right);
}

/** `-5`, `~5`. */
export function applyUnary(op: '-' | '~', operand: Value): Value {
  if (op === '-' && operand.type === 'time') return { type: 'time', ms: -operand.ms };
  const number = toNumber(operand);
  if (number === undefined) throw new ValueFailure(`invalid value for operator ${op}`);
  return num(op === '-' ? -number : ~number);
}

function calculate(op: BinaryOp, left: Value, right: Value): Value {
  const compute = arithmetic[op];
  const times = [left, right].filter((side) => side.type === 'time').length;
  // A plain number added to a time counts seconds.
  const scale = times === 1 && (op === '+' || op === '-') ? 1000n : 1n;
  const [a, b] = [operandOf(left, scale), operandOf(right, scale)];
  if (compute === undefined || a === undefined || b === undefined) throw new ValueFailure(`invalid values for operator ${op}`);
  const result = compute(a, b);
  if (left.type === 'ip' && right.type !== 'ip') return { type: 'ip', number: Number(BigInt.asUintN(32, result)) };
  return times === 0 || (times === 2 && op === '/') ? num(result) : { type: 'time', ms: Number(result) };
}

function operandOf(value: Value, scale: bigint): bigint | undefined {
  if (value.type === 'time') return BigInt(Math.round(value.ms));
  if (isUnset(value)) return 0n;
  const number = toNumber(value);
  return number === undefined ? undefined : number * scale;
}

function divisor(value: bigint): bigint {
  if (value === 0n) throw new ValueFailure('division by zero');
  return value;
}

/** A number, or text that is one. */
export function toNumber(value: Value): bigint | undefined {
  if (value.type === 'num') return value.number;
  if (value.type === 'time') return BigInt(Math.floor(value.ms / 1000));
  if (value.type === 'ip') return BigInt(value.number);
  if (value.type === 'bool') return value.truth ? 1n : 0n;
  const parsed = value.type === 'str' ? parseNumber(value.text) : undefined;
  return parsed?.type === 'num' ? parsed.number : undefined;
}

function concatenate(left: Value, right: Value): Value {
  if (left.type === 'array') return limited(left.entries.map((entry) => ({ ...entry, value: concatenate(entry.value, right) })));
  if (right.type === 'array') return limited(right.entries.map((entry) => ({ ...entry, value: concatenate(left, entry.value) })));
  return limitText(toText(left) + toText(right));
}

export function limitText(text: string): Value {
  if (text.length > maxText) throw new ValueFailure('out of memory');
  return str(text);
}

function limited(entries: readonly Entry[]): Value {
  if (entries.length > maxEntries) throw new ValueFailure('out of memory');
  return { type: 'array', entries };
}

function pickEntry(left: Value, right: Value): Value {
  if (left.type !== 'array') return nothing;
  if (right.type === 'num') return left.entries.filter((entry) => entry.key === undefined)[Number(right.number)]?.value ?? nothing;
  const key = toText(right);
  return left.entries.find((entry) => entry.key === key)?.value ?? nothing;
}

/** A copy of a list with one entry set: by name, or by place for a number. */
export function withEntry(target: Value, index: Value, value: Value): Value {
  const entries = [...entriesOf(target)];
  const numeric = index.type === 'num';
  const key = toText(index);
  const at = numeric ? Number(index.number) : entries.findIndex((entry) => entry.key === key);
  const kept = entries[at];
  if (kept !== undefined) entries[at] = { ...kept, value };
  else entries.push(numeric ? { value } : { key, value });
  return limited(entries);
}
