import type { Expr } from './ast.ts';
import type { Grammar, ValueStyle } from './grammar.ts';
import { parseLiteral } from './literals.ts';
import { list, str } from './values.ts';

const typed = { where: false, right: false, enclosed: true };

/** The value of an argument: a word, a string, `$x`, `(…)`, `[…]`, `{…}`, or several of them joined by commas. */
export function parseValue(grammar: Grammar, style: ValueStyle): Expr {
  const { cursor } = grammar;
  if (style.code !== undefined && cursor.peek() === '{') return parseCode(grammar, style.code);
  let left = parseComponent(grammar, style);
  while (continues(grammar)) {
    cursor.takeText(',');
    left = { kind: 'binary', op: ',', left, right: parseComponent(grammar, style) };
  }
  return left;
}

/** A list continues if a comma is directly before or after this position, without a blank. */
function continues(grammar: Grammar): boolean {
  const { cursor } = grammar;
  if (cursor.peek() === ',') return cursor.index > 0;
  return cursor.peek(-1) === ',' && cursor.looksAt(/["$([]/y);
}

function parseComponent(grammar: Grammar, style: ValueStyle): Expr {
  const { cursor } = grammar;
  const enclosed = grammar.enclosed(typed);
  if (enclosed !== undefined) return parseIndexes(grammar, enclosed);
  const word = cursor.take(/[^\s;[\](){}"$\\]+/y);
  // `name=` with nothing behind it is the empty text.
  if (word === undefined) return { kind: 'literal', value: str('') };
  return { kind: 'literal', value: wordValue(word, style) };
}

function wordValue(word: string, style: ValueStyle): ReturnType<typeof str> {
  const text = word.endsWith(',') ? word.slice(0, -1) : word;
  if (style.words === 'text') return str(text);
  if (!text.includes(',')) return parseLiteral(text);
  return list(text.split(',').map(parseLiteral));
}

function parseIndexes(grammar: Grammar, base: Expr): Expr {
  const { cursor } = grammar;
  let left = base;
  while (cursor.takeText('->')) {
    const right = grammar.enclosed(typed) ?? { kind: 'literal', value: parseLiteral(cursor.take(/[\w-]+/y) ?? '') };
    left = { kind: 'binary', op: '->', left, right };
  }
  return left;
}

function parseCode(grammar: Grammar, kind: 'nested' | 'function'): Expr {
  const { cursor } = grammar;
  const start = cursor.index + 1;
  cursor.index = start;
  const body = cursor.nested(() => grammar.block('}', kind));
  return { kind: 'code', body, source: cursor.source.slice(start, cursor.index - 1) };
}
