import type { BinaryOp, Expr } from './ast.ts';
import type { ExpressionMode, Grammar } from './grammar.ts';
import { parseLiteral } from './literals.ts';
import { list, str } from './values.ts';

/** Loosest first. `,` joins lists only inside parentheses. */
const levels: readonly (readonly BinaryOp[])[] = [
  [','],
  ['||'],
  ['&&'],
  ['=', '!=', '<', '>', '<=', '>=', '~', 'in'],
  ['.'],
  ['|', '^'],
  ['&'],
  ['<<', '>>'],
  ['+', '-'],
  ['*', '/', '%'],
  ['->'],
];
const comparison = 3;
const operatorToken = /->|&&|\|\||!=|<=|>=|<<|>>|[,=<>~.|^&+\-*/%]|(?:and|or|in)(?![\w-])/y;
const spelled: Readonly<Record<string, BinaryOp>> = { and: '&&', or: '||' };

const literalWords = [
  /\d{1,3}(?:\.\d{1,3}){3}(?:\/\d+)?/y,
  /(?:[0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}/y,
  /[0-9A-Fa-f]*(?::[0-9A-Fa-f]*)*::[0-9A-Fa-f:]*(?:\/\d+)?/y,
  /(?:\d+w)?(?:\d+d)?\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?/y,
  /(?:\d+(?:ms|[wdhms]))+(?!\w)/y,
  /0x[0-9A-Fa-f]+/y,
  /\d+/y,
  /\*[0-9A-Fa-f]+/y,
  /[A-Za-z][\w-]*/y,
];

/** An expression; where it ends is the caller's business. */
export function parseExpression(grammar: Grammar, mode: ExpressionMode): Expr {
  return parseLevel(grammar, mode, mode.enclosed ? 0 : 1);
}

function parseLevel(grammar: Grammar, mode: ExpressionMode, level: number): Expr {
  if (level >= levels.length) return parseUnary(grammar, mode);
  let left = parseLevel(grammar, mode, level + 1);
  for (;;) {
    const op = takeOperator(grammar, mode, level);
    if (op === undefined) return left;
    if (mode.where && level === comparison && !emptyMayFollow.has(op)) refuseNothing(grammar, mode);
    const right = parseLevel(grammar, level === comparison ? { ...mode, right: true } : mode, level + 1);
    left = { kind: 'binary', op, left, right };
  }
}

/** `comment=` asks for the empty text; a pattern, a bound or a list must be there. */
const emptyMayFollow: ReadonlySet<BinaryOp> = new Set(['=', '!=']);

/** Refuses `message~` with nothing behind it. */
function refuseNothing(grammar: Grammar, mode: ExpressionMode): void {
  const { cursor } = grammar;
  skip(grammar, mode);
  if (cursor.looksAt(/[\s;)\]}]|$/y)) throw cursor.fail('syntax error');
}

function takeOperator(grammar: Grammar, mode: ExpressionMode, level: number): BinaryOp | undefined {
  const { cursor } = grammar;
  const start = cursor.index;
  skip(grammar, mode);
  const token = cursor.take(operatorToken);
  const op = token === undefined ? undefined : (spelled[token] ?? (token as BinaryOp));
  if (op !== undefined && levels[level]?.includes(op) === true) return op;
  cursor.index = start;
  return undefined;
}

function skip(grammar: Grammar, mode: ExpressionMode): void {
  if (mode.enclosed) grammar.cursor.skipSpace();
  else grammar.cursor.skipBlanks();
}

function parseUnary(grammar: Grammar, mode: ExpressionMode): Expr {
  const { cursor } = grammar;
  skip(grammar, mode);
  const op = mode.where && mode.right ? undefined : cursor.take(/[!~-]/y);
  if (op === undefined) return parsePrimary(grammar, mode);
  const operand = cursor.nested(() => parseUnary(grammar, mode));
  return { kind: 'unary', op: op as '!' | '-' | '~', operand };
}

function parsePrimary(grammar: Grammar, mode: ExpressionMode): Expr {
  const { cursor } = grammar;
  const enclosed = grammar.enclosed(mode);
  if (enclosed !== undefined) return enclosed;
  if (mode.where) return parseWhereWord(grammar, mode);
  for (const pattern of literalWords) {
    const word = cursor.take(pattern);
    if (word !== undefined) return { kind: 'literal', value: parseLiteral(word) };
  }
  throw cursor.fail('syntax error');
}

function parseWhereWord(grammar: Grammar, mode: ExpressionMode): Expr {
  const { cursor } = grammar;
  if (!mode.right) {
    const name = cursor.take(/[.A-Za-z][\w.-]*/y);
    if (name !== undefined) return { kind: 'property', name };
  }
  const word = cursor.take(/[^\s;()[\]{}"$&|\\]+/y);
  if (word !== undefined) return { kind: 'literal', value: parseLiteral(word) };
  // `comment=` with nothing behind it compares with the empty text.
  if (mode.right && cursor.looksAt(/\s|;|[)\]}]|$/y)) return { kind: 'literal', value: str('') };
  throw cursor.fail('syntax error');
}

/** `(…)`, `[…]`, `{…}`, `"…"` and `$x`, wherever a value may stand. */
export function parseEnclosed(grammar: Grammar, mode: ExpressionMode): Expr | undefined {
  const { cursor } = grammar;
  switch (cursor.peek()) {
    case '"':
      return grammar.string();
    case '$':
      return grammar.variable();
    case '(':
      return cursor.nested(() => parseParentheses(grammar, mode));
    case '[':
      cursor.index += 1;
      return cursor.nested(() => ({ kind: 'command', body: grammar.block(']', 'same') }));
    case '{':
      return cursor.nested(() => parseArray(grammar));
    default:
      return undefined;
  }
}

function parseParentheses(grammar: Grammar, mode: ExpressionMode): Expr {
  const { cursor } = grammar;
  cursor.index += 1;
  cursor.skipSpace();
  if (cursor.takeText(')')) return { kind: 'literal', value: list([]) };
  const inner = grammar.expression({ where: mode.where, right: false, enclosed: true });
  cursor.skipSpace();
  if (!cursor.takeText(')')) throw cursor.fail(cursor.atEnd ? 'expected closing parenthesis' : 'syntax error');
  return inner;
}

function parseArray(grammar: Grammar): Expr {
  const { cursor } = grammar;
  cursor.index += 1;
  const items: { key?: string; value: Expr }[] = [];
  for (;;) {
    cursor.take(/(?:[ \t\r\n;]|\\\r?\n)+/y);
    if (cursor.takeText('}')) return { kind: 'array', items };
    if (cursor.atEnd) throw cursor.fail('expected closing brace');
    const start = cursor.index;
    const key = takeKey(grammar);
    const value = grammar.value({ words: 'typed' });
    if (cursor.index === start) throw cursor.fail('syntax error');
    items.push(key === undefined ? { value } : { key, value });
  }
}

function takeKey(grammar: Grammar): string | undefined {
  const word = grammar.cursor.take(/(?:[A-Za-z0-9][\w.-]*|"[^"\\$]*")=/y);
  return word?.slice(0, -1).replaceAll('"', '');
}

/** `$name`, `$"any name"`, and what follows it by `->`. */
export function parseVariable(grammar: Grammar): Expr {
  const { cursor } = grammar;
  const start = cursor.index;
  cursor.index += 1;
  const name = cursor.take(/[A-Za-z0-9]+/y) ?? cursor.take(/"[^"\\$]*"/y);
  if (name === undefined) throw cursor.fail('syntax error', start);
  return { kind: 'variable', name: name.replaceAll('"', '') };
}
