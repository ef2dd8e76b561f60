import type { MenuTree } from '../menu/types.ts';
import { builtinShapes, type BuiltinShape } from './builtin-shapes.ts';
import { isAtLeast } from './versions.ts';

/** What a word at a place in the menus is. */
export type Word = { readonly kind: 'child' | 'command' | 'builtin'; readonly name: string };

/** The words one router knows: its menus and, by its version, the global commands. */
export interface Dialect {
  readonly menus: MenuTree;
  readonly builtins: ReadonlyMap<string, BuiltinShape>;
  /** Since 7.23 an unknown `name=` has its own message; before, it is where the command should have ended. */
  readonly namesBadParameters: boolean;
}

export function createDialect(menus: MenuTree, version: string): Dialect {
  return { menus, builtins: builtinShapes(version), namesBadParameters: isAtLeast(version, '7.23') };
}

/** Resolves a word, abbreviated or not. Undefined when nothing or more than one thing begins like it. */
export function resolveWord(dialect: Dialect, path: string, word: string): Word | undefined {
  const candidates = wordsAt(dialect, path);
  const exact = candidates.find((candidate) => candidate.name === word);
  if (exact !== undefined) return exact;
  const matches = candidates.filter((candidate) => candidate.name.startsWith(word));
  if (matches.length === 1) return matches[0];
  // `/system res` means the menu although a command begins alike.
  const menus = matches.filter((match) => match.kind === 'child');
  return menus.length === 1 ? menus[0] : undefined;
}

function wordsAt(dialect: Dialect, path: string): Word[] {
  const builtins = path === '/' ? [...dialect.builtins.keys()] : [];
  const commands = new Set(dialect.menus.commands(path));
  // `find` and `get` are made of `print` here, so a menu need not list them.
  if (path !== '/' && commands.has('print')) commands.add('find').add('get');
  return [
    ...builtins.map((name): Word => ({ kind: 'builtin', name })),
    ...dialect.menus.children(path).map((name): Word => ({ kind: 'child', name })),
    ...[...commands].map((name): Word => ({ kind: 'command', name })),
  ];
}

/** Full name of a parameter, from any unambiguous beginning. */
export function resolveParameter(known: readonly string[], word: string): string | undefined {
  if (known.includes(word)) return word;
  const matches = known.filter((name) => name.startsWith(word));
  return matches.length === 1 ? matches[0] : undefined;
}

export function joinPath(path: string, name: string): string {
  return path === '/' ? `/${name}` : `${path}/${name}`;
}

export function parentPath(path: string): string {
  const cut = path.lastIndexOf('/');
  return cut <= 0 ? '/' : path.slice(0, cut);
}
