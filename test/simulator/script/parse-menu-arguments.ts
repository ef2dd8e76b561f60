import type { Arg, Expr } from './ast.ts';
import { resolveParameter } from './dialect.ts';
import { SyntaxFailure } from './errors.ts';
import type { Grammar } from './grammar.ts';
import { atCommandEnd } from './parse-arguments.ts';

/** Names of the values a menu command takes without a name, in order. */
const unnamed: Readonly<Record<string, readonly string[]>> = {
  print: ['from'],
  get: ['numbers', 'value-name'],
  move: ['numbers', 'destination'],
  comment: ['numbers', 'comment'],
  unset: ['numbers', 'value-name'],
  add: [],
  find: [],
  export: [],
  info: ['message'],
  warning: ['message'],
  error: ['message'],
  debug: ['message'],
  execute: ['script'],
  import: ['file-name'],
  ping: ['address'],
  resolve: ['domain-name'],
  run: ['number'],
  upgrade: [],
  save: ['name'],
  load: ['name'],
  'monitor-traffic': ['interface'],
};

/** Words that stand alone; with `=` behind them the command should have ended before it. */
const flags: Readonly<Record<string, readonly string[]>> = {
  print: [
    'brief',
    'detail',
    'terse',
    'stats',
    'stats-detail',
    'count-only',
    'as-value',
    'without-paging',
    'value-list',
    'follow',
    'follow-only',
    'append',
    'show-ids',
  ],
  export: ['compact', 'verbose', 'terse', 'hide-sensitive', 'show-sensitive'],
};

const printOptions = ['where', 'from', 'file', 'interval', 'proplist', ...(flags['print'] ?? [])];

export interface MenuArguments {
  args: Arg[];
  where?: Expr;
}

/** Reads the words behind a menu command; knows the parameters the menu knows. */
export function parseMenuArguments(grammar: Grammar, path: string, command: string): MenuArguments {
  const { cursor } = grammar;
  const known = knownParameters(grammar, path, command);
  const positions = hasItems(grammar, path, command) ? positionsOf(command) : [];
  const result: MenuArguments = { args: [] };
  let position = 0;
  for (;;) {
    cursor.skipBlanks();
    if (atCommandEnd(grammar)) return result;
    if (command === 'find' || (known?.includes('where') !== false && cursor.take(/where(?=[\s(!"[])/y) !== undefined)) {
      result.where = parseWhere(grammar);
      return result;
    }
    const arg = takeNamed(grammar, {
      path,
      command,
      known,
      first: result.args.length === 0,
      takesItem: itemPositions.has(positions[position] ?? ''),
    });
    if (arg !== undefined) {
      result.args.push(arg);
      continue;
    }
    const name = positions[position];
    position += 1;
    result.args.push(takeUnnamed(grammar, name));
  }
}

function knownParameters(grammar: Grammar, path: string, command: string): readonly string[] | undefined {
  const known = grammar.dialect.menus.parameters(path, command);
  if (command === 'get' || command === 'find') return [...(known ?? []), 'numbers', 'number', 'value-name', 'where', 'as-string'];
  if (known === undefined) return undefined;
  if (command === 'print') return [...known, ...printOptions.filter((name) => !known.includes(name))];
  return positionsOf(command).some((name) => itemPositions.has(name)) ? [...known, 'numbers', '.id'] : known;
}

/** Places where a bare word names an item, even one called like a parameter. */
const itemPositions = new Set(['numbers', 'number', 'value-name', 'destination']);

function positionsOf(command: string): readonly string[] {
  return unnamed[command] ?? ['numbers'];
}

/** A menu of one record has no items to name: `set name=two words` ends at the second word. */
function hasItems(grammar: Grammar, path: string, command: string): boolean {
  const commands = grammar.dialect.menus.commands(path);
  return command !== 'set' || commands.includes('find') || commands.includes('remove');
}

interface Context {
  readonly path: string;
  readonly command: string;
  readonly known: readonly string[] | undefined;
  readonly first: boolean;
  /** A bare word here names an item. */
  readonly takesItem: boolean;
}

/** `name=value`, `!name` or a flag word; undefined when something else stands here. */
function takeNamed(grammar: Grammar, context: Context): Arg | undefined {
  const { cursor } = grammar;
  const start = cursor.index;
  const word = cursor.take(/!?[.A-Za-z][\w.-]*(?==)/y);
  if (word !== undefined) return takeAssignment(grammar, context, word, start);
  const negated = cursor.take(/![A-Za-z][\w.-]*(?=[\s;\]})]|$)/y);
  if (negated !== undefined) return { name: resolve(grammar, context, negated.slice(1), start), negated: true };
  const flag = cursor.take(/[A-Za-z][\w-]*(?=[\s;\]})]|$)/y);
  const name = flag === undefined ? undefined : flagName(context, flag);
  if (name !== undefined) return { name };
  cursor.index = start;
  return undefined;
}

function flagName(context: Context, word: string): string | undefined {
  const alone = flags[context.command];
  if (alone !== undefined) {
    const name = resolveParameter(alone, word);
    return name === undefined || context.known?.includes(name) === false ? undefined : name;
  }
  // `remove ether1` and `set wan …` name an item even if a parameter is called alike.
  if (context.takesItem && !['once', 'as-value'].includes(word)) return undefined;
  return context.known === undefined ? undefined : resolveParameter(context.known, word);
}

function takeAssignment(grammar: Grammar, context: Context, word: string, start: number): Arg {
  const { cursor } = grammar;
  const name = resolve(grammar, context, word.replace('!', ''), start);
  if (flags[context.command]?.includes(name) === true) throw cursor.fail('expected end of command');
  cursor.index += 1;
  const value = grammar.value({ words: 'text', code: isScript(name) ? 'function' : undefined });
  return { name, value };
}

/** Parameters that hold a script: `{…}` there is source text, not a list. */
function isScript(name: string): boolean {
  return name === 'source' || name === 'script' || name === 'do' || name.startsWith('on-') || name.endsWith('-script');
}

function resolve(grammar: Grammar, context: Context, word: string, start: number): string {
  const { cursor, dialect } = grammar;
  const name = context.known === undefined ? word : resolveParameter(context.known, word);
  if (name !== undefined) return name;
  if (!dialect.namesBadParameters) throw cursor.fail('expected end of command', start);
  // Measured: the first argument is blamed at its `=`, a later one where it begins.
  const at = context.first ? cursor.index : start;
  const command = context.path === '/' ? `/${context.command}` : `${context.path}/${context.command}`;
  throw new SyntaxFailure(`bad parameter ${word}`, cursor.position(at), (text) => `(evl ${text} ${command})`);
}

function takeUnnamed(grammar: Grammar, name: string | undefined): Arg {
  const { cursor } = grammar;
  if (name === undefined) throw cursor.fail('expected end of command');
  const start = cursor.index;
  const value = grammar.value({ words: 'text', code: isScript(name) ? 'function' : undefined });
  if (cursor.index === start) throw cursor.fail('expected end of command');
  return { name, value };
}

/** Conditions one after the other must all hold. */
function parseWhere(grammar: Grammar): Expr {
  const { cursor } = grammar;
  cursor.take(/[ \t]*where(?=[\s(!"[])/y);
  let all: Expr | undefined;
  for (;;) {
    cursor.skipBlanks();
    if (atCommandEnd(grammar)) break;
    const next = grammar.expression({ where: true, right: false, enclosed: false });
    all = all === undefined ? next : { kind: 'binary', op: '&&', left: all, right: next };
  }
  if (all === undefined) throw cursor.fail('syntax error');
  return all;
}
