import type { Expr } from './ast.ts';
import type { Grammar } from './grammar.ts';
import { str } from './values.ts';

const escapes: Readonly<Record<string, string>> = {
  n: '\n',
  r: '\r',
  t: '\t',
  _: ' ',
  a: '\u0007',
  b: '\b',
  f: '\f',
  v: '\v',
  '"': '"',
  '\\': '\\',
  $: '$',
  '?': '?',
};

/** A quoted string; `$x`, `$(…)` and `$[…]` in it are evaluated. */
export function parseString(grammar: Grammar): Expr {
  const { cursor } = grammar;
  const start = cursor.index;
  cursor.index += 1;
  const parts: (string | Expr)[] = [];
  while (!cursor.takeText('"')) {
    if (cursor.atEnd) throw cursor.fail('syntax error', start);
    parts.push(parsePart(grammar));
  }
  const texts = parts.filter((part) => typeof part === 'string');
  if (texts.length === parts.length) return { kind: 'literal', value: str(texts.join('')) };
  return { kind: 'template', parts };
}

function parsePart(grammar: Grammar): string | Expr {
  const { cursor } = grammar;
  const plain = cursor.take(/[^"\\$]+/y);
  if (plain !== undefined) return plain;
  if (cursor.peek() === '\\') return parseEscape(grammar);
  if (/^[A-Za-z0-9"]/.test(cursor.peek(1))) return grammar.variable();
  if (cursor.peek(1) !== '(' && cursor.peek(1) !== '[') throw cursor.fail('syntax error');
  cursor.index += 1;
  return grammar.enclosed({ where: false, right: false, enclosed: true }) ?? '';
}

function parseEscape(grammar: Grammar): string {
  const { cursor } = grammar;
  // A line broken by an export: the indent of the next line is not part of the text.
  if (cursor.take(/\\\r?\n[ \t]*/y) !== undefined) return '';
  const hex = cursor.take(/(?:\\[0-9A-F]{2})+/y);
  // Several escapes in a row may be one UTF-8 character.
  if (hex !== undefined) return Buffer.from(hex.replaceAll('\\', ''), 'hex').toString('utf8');
  const text = escapes[cursor.peek(1)];
  if (text === undefined) throw cursor.fail('syntax error');
  cursor.index += 2;
  return text;
}
