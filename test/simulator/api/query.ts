/** Query words of print: a stack of truth values for every row. */
import { compareAddresses, parseAddress } from '../addresses.ts';
import { parseDuration } from '../formats.ts';
import type { Row } from '../menu/types.ts';

export type RowFilter = (row: Row) => boolean;

/** Top of the stack is the last element; below the bottom everything is true. */
type Step = (stack: boolean[], row: Row) => boolean[];

/** Compiles the words in order; no words let every row pass. */
export function compileQuery(words: readonly string[]): RowFilter {
  const steps = words.map(compileWord);
  return (row) => {
    let stack: boolean[] = [];
    for (const step of steps) stack = step(stack, row);
    return stack.every(Boolean);
  };
}

function compileWord(word: string): Step {
  const body = word.slice(1);
  if (body.startsWith('#')) return (stack) => operate(stack, body.slice(1));
  const test = compileTest(body);
  return (stack, row) => [...stack, test(row)];
}

function compileTest(body: string): RowFilter {
  if (body.startsWith('-')) return (row) => !row.has(body.slice(1));
  if (body.startsWith('<') || body.startsWith('>')) return compileOrder(body[0] === '<' ? -1 : 1, body.slice(1));
  const plain = body.startsWith('=') ? body.slice(1) : body;
  const cut = plain.indexOf('=');
  if (cut < 0) return (row) => row.has(plain);
  const [name, wanted] = [plain.slice(0, cut), plain.slice(cut + 1)];
  return (row) => isSame(row.get(name), wanted);
}

function compileOrder(sign: 1 | -1, body: string): RowFilter {
  const cut = body.indexOf('=');
  const [name, bound] = cut < 0 ? [body, ''] : [body.slice(0, cut), body.slice(cut + 1)];
  return (row) => {
    const value = row.get(name);
    return value !== undefined && compareValues(value, bound) * sign > 0;
  };
}

/** Booleans may be asked for as yes and no, as in a console. */
function isSame(value: string | undefined, wanted: string): boolean {
  if (value === wanted) return true;
  return (value === 'true' && wanted === 'yes') || (value === 'false' && wanted === 'no');
}

/** Numbers by size, addresses and durations by what they mean, everything else as text. */
export function compareValues(left: string, right: string): number {
  if (/^-?\d+$/.test(left) && /^-?\d+$/.test(right)) return Number(BigInt(left) - BigInt(right));
  const [a, b] = [parseAddress(left), parseAddress(right)];
  if (a && b) return compareAddresses(a, b);
  const [long, short] = [parseDuration(left), parseDuration(right)];
  if (long !== undefined && short !== undefined) return long - short;
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

/** One `?#…` word, from left to right. */
function operate(before: readonly boolean[], operations: string): boolean[] {
  let stack = [...before];
  let previousWasIndex = false;
  for (const [token] of operations.matchAll(/\d+|[^\d]/g)) {
    const isIndex = /\d/.test(token);
    if (!isIndex) apply(stack, token, previousWasIndex);
    else stack.push(at(stack, Number(token)));
    previousWasIndex = isIndex;
  }
  // An index at the very end does not push: it becomes the whole stack.
  if (previousWasIndex) stack = [stack.at(-1) ?? true];
  return stack;
}

function apply(stack: boolean[], operator: string, afterIndex: boolean): void {
  if (operator === '!') stack.push(!pop(stack));
  else if (operator === '&') stack.push(both(pop(stack), pop(stack)));
  else if (operator === '|') stack.push(either(pop(stack), pop(stack)));
  else if (operator === '.' && !afterIndex) stack.push(at(stack, 0));
}

const both = (left: boolean, right: boolean): boolean => left && right;
const either = (left: boolean, right: boolean): boolean => left || right;
const pop = (stack: boolean[]): boolean => stack.pop() ?? true;
const at = (stack: readonly boolean[], index: number): boolean => stack[stack.length - 1 - index] ?? true;
