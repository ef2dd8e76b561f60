import type { Block, Statement } from './ast.ts';
import { joinPath, parentPath, resolveWord } from './dialect.ts';
import { SyntaxFailure } from './errors.ts';
import type { Grammar, NameScope } from './grammar.ts';
import { atCommandEnd, parseBuiltinArguments, parseCallArguments } from './parse-arguments.ts';
import { parseMenuArguments } from './parse-menu-arguments.ts';

/** Commands up to `close` (consumed) or the end. A nested block sees the names and the menu around it, a function only its own. */
export function parseBlock(grammar: Grammar, close: '}' | ']' | '', kind: 'same' | 'nested' | 'function'): Block {
  const { path, scope } = grammar;
  if (kind !== 'same') grammar.scope = childScope(scope, kind);
  if (kind === 'function') grammar.path = '/';
  const statements = parseUntil(grammar, close);
  // `[find]` inside `/ip address set …` starts in that menu and leaves it alone; the same goes for a block.
  if (close !== '') grammar.path = path;
  grammar.scope = scope;
  return { statements };
}

function childScope(scope: NameScope, kind: 'nested' | 'function'): NameScope {
  return { names: new Set(), parent: kind === 'nested' ? scope : undefined, open: kind === 'function' };
}

function parseUntil(grammar: Grammar, close: '}' | ']' | ''): Statement[] {
  const { cursor } = grammar;
  const statements: Statement[] = [];
  for (;;) {
    cursor.skipSeparators();
    if (close !== '' && cursor.takeText(close)) return statements;
    if (cursor.atEnd) {
      if (close === '') return statements;
      throw cursor.fail(close === '}' ? 'expected closing brace' : 'expected closing bracket');
    }
    const statement = cursor.nested(() => parseStatement(grammar));
    if (statement !== undefined) statements.push(statement);
    cursor.skipBlanks();
    if (!endsHere(grammar, close)) throw cursor.fail('expected end of command');
  }
}

function endsHere(grammar: Grammar, close: string): boolean {
  const { cursor } = grammar;
  return cursor.atEnd || cursor.looksAt(/[;\n]|\r\n/y) || (close !== '' && cursor.peek() === close);
}

/** One command; nothing for a change of the menu alone. */
function parseStatement(grammar: Grammar): Statement | undefined {
  const { cursor } = grammar;
  const line = cursor.lineAt(cursor.index);
  if (cursor.peek() === '{') {
    cursor.index += 1;
    return { kind: 'block', line, body: grammar.block('}', 'nested') };
  }
  if (cursor.looksAt(/[$[(]/y)) return parseCall(grammar, line);
  return parsePath(grammar, line);
}

function parseCall(grammar: Grammar, line: number): Statement {
  const callee = grammar.value({ words: 'typed' });
  return { kind: 'call', line, callee, args: parseCallArguments(grammar) };
}

function parsePath(grammar: Grammar, line: number): Statement | undefined {
  const { cursor } = grammar;
  let path = grammar.path;
  const rooted = cursor.take(/[/:]/y);
  if (rooted !== undefined) path = '/';
  for (let words = 0; ; words += 1) {
    // `/ip/address/print` and `/ip address print` are the same; after a `:` or `/` the word follows at once.
    if (words > 0 && cursor.take(/\//y) === undefined) cursor.skipBlanks();
    if (cursor.take(/\.\.(?![\w.])/y) !== undefined) {
      path = parentPath(path);
      continue;
    }
    if (cursor.peek() === '{' && words > 0) return parseMenuBlock(grammar, path, line);
    if (atCommandEnd(grammar)) return navigate(grammar, path, rooted, words);
    const word = takeWord(grammar, path);
    if (word.kind === 'child') path = joinPath(path, word.name);
    else return parseCommand(grammar, path, word, line);
  }
}

function navigate(grammar: Grammar, path: string, rooted: string | undefined, words: number): undefined {
  if (rooted === ':' || (rooted === undefined && words === 0))
    throw grammar.cursor.fail(words === 0 ? 'expected end of command' : 'expected command name');
  grammar.path = path;
}

function parseMenuBlock(grammar: Grammar, path: string, line: number): Statement {
  const before = grammar.path;
  grammar.cursor.index += 1;
  grammar.path = path;
  const body = grammar.block('}', 'nested');
  grammar.path = before;
  return { kind: 'block', line, body };
}

function takeWord(grammar: Grammar, path: string): { kind: 'child' | 'command' | 'builtin'; name: string } {
  const { cursor, dialect } = grammar;
  const start = cursor.index;
  const word = cursor.take(/[A-Za-z0-9][\w-]*/y);
  if (word === undefined) throw cursor.fail('expected command name');
  const found = resolveWord(dialect, path, word);
  if (found !== undefined) return found;
  const rest = [word, ...remainingWords(grammar)].join(';');
  throw new SyntaxFailure(`bad command name ${word}`, cursor.position(start), (text) => `(<%% ${text} ${rest})`);
}

function remainingWords(grammar: Grammar): string[] {
  const words: string[] = [];
  for (;;) {
    if (grammar.cursor.take(/\//y) === undefined) grammar.cursor.skipBlanks();
    const word = grammar.cursor.take(/[A-Za-z0-9][\w-]*(?=[\s;\]}/]|$)/y);
    if (word === undefined) return words;
    words.push(word);
  }
}

function parseCommand(grammar: Grammar, path: string, word: { kind: string; name: string }, line: number): Statement {
  const shape = word.kind === 'builtin' ? grammar.dialect.builtins.get(word.name) : undefined;
  if (shape !== undefined) {
    return { kind: 'builtin', line, name: word.name, args: parseBuiltinArguments(grammar, word.name, shape) };
  }
  const before = grammar.path;
  grammar.path = path;
  const { args, where } = parseMenuArguments(grammar, path, word.name);
  grammar.path = before;
  const statement = { kind: 'menu' as const, line, path, command: word.name, args };
  return where === undefined ? statement : { ...statement, where };
}
