import type { Arg, Expr } from './ast.ts';
import type { BuiltinShape } from './builtin-shapes.ts';
import type { Grammar, NameScope, ValueStyle } from './grammar.ts';
import { list, str } from './values.ts';

const named = /[A-Za-z][\w-]*=/y;

/** True where a command ends: line end, `;`, a closing character or the end of the source. */
export function atCommandEnd(grammar: Grammar): boolean {
  return grammar.cursor.atEnd || grammar.cursor.looksAt(/[;\n\]})]|\r\n/y);
}

/** Reads the words of a global command as its shape says. */
export function parseBuiltinArguments(grammar: Grammar, name: string, shape: BuiltinShape): Arg[] {
  const { cursor } = grammar;
  const args: Arg[] = [];
  cursor.skipBlanks();
  if (shape.variable !== undefined) args.push({ value: parseVariableName(grammar, shape) });
  let positional = 0;
  for (;;) {
    cursor.skipBlanks();
    if (atCommandEnd(grammar)) return args;
    const start = cursor.index;
    const word = cursor.take(named);
    if (word !== undefined) {
      args.push(parseNamed(grammar, word.slice(0, -1), shape, start, name));
      continue;
    }
    if (positional >= shape.positional) throw cursor.fail('expected end of command');
    args.push({ value: parsePositional(grammar, name, shape) });
    positional += 1;
  }
}

function parseNamed(grammar: Grammar, word: string, shape: BuiltinShape, start: number, command: string): Arg {
  const { cursor } = grammar;
  const name = shape.names?.find((known) => known === word);
  if (name === undefined)
    throw cursor.fail(grammar.dialect.namesBadParameters ? `bad parameter ${word}` : 'expected end of command', start);
  const isFunction = command === 'local' || command === 'global' || command === 'set';
  const code = shape.code?.includes(name) === true ? (isFunction ? 'function' : 'nested') : undefined;
  return { name, value: grammar.value({ words: 'typed', code }) };
}

function parsePositional(grammar: Grammar, name: string, shape: BuiltinShape): Expr {
  const { cursor } = grammar;
  // A subject like `:if $a = 1` without parentheses is an error at the operator, as on the router.
  const code = shape.codeFirst === true ? (name === 'parse' ? 'function' : 'nested') : undefined;
  const start = cursor.index;
  const value = grammar.value({ words: 'typed', code });
  if (cursor.index === start) throw cursor.fail('syntax error');
  return value;
}

/** `x` of `:local x`, `k,v` of `:foreach k,v`, or the `($a->"k")` of a `:set`. */
function parseVariableName(grammar: Grammar, shape: BuiltinShape): Expr {
  const { cursor } = grammar;
  const start = cursor.index;
  if (shape.variable === 'assign' && cursor.looksAt(/[($]/y)) return grammar.value({ words: 'typed' });
  const text = cursor.take(/(?:"[^"\\$]*"|[A-Za-z0-9]+)(?:,(?:"[^"\\$]*"|[A-Za-z0-9]+))*/y);
  if (text === undefined) throw cursor.fail('syntax error');
  const names = text.replaceAll('"', '').split(',');
  if (shape.variable === 'assign' && !isDeclared(grammar.scope, names[0] ?? '')) throw cursor.fail('syntax error', start);
  for (const name of names) grammar.scope.names.add(name);
  return { kind: 'literal', value: names.length === 1 ? str(names[0] ?? '') : list(names.map(str)) };
}

function isDeclared(scope: NameScope | undefined, name: string): boolean {
  return scope !== undefined && (scope.open || scope.names.has(name) || isDeclared(scope.parent, name));
}

/** Arguments of `$function a=1 2`: any names, any number. */
export function parseCallArguments(grammar: Grammar): Arg[] {
  const { cursor } = grammar;
  const style: ValueStyle = { words: 'typed', code: 'function' };
  const args: Arg[] = [];
  for (;;) {
    cursor.skipBlanks();
    if (atCommandEnd(grammar)) return args;
    const start = cursor.index;
    const word = cursor.take(named);
    const value = grammar.value(style);
    if (cursor.index === start) throw cursor.fail('expected end of command');
    args.push(word === undefined ? { value } : { name: word.slice(0, -1), value });
  }
}
