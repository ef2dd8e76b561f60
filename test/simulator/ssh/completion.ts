import type { MenuTree } from '../menu/types.ts';

export interface Completion {
  /** Where the unfinished word begins. */
  from: number;
  /** What it may become. */
  words: string[];
}

/** Words that may follow at the cursor: menus, commands, then a command's parameters. */
export function completionsOf(menus: MenuTree, menu: string, beforeCursor: string): Completion {
  const from = Math.max(beforeCursor.lastIndexOf(' '), beforeCursor.lastIndexOf('/')) + 1;
  const word = beforeCursor.slice(from);
  const { path, command } = placeOf(menus, menu, beforeCursor.slice(0, from));
  const words =
    command === undefined
      ? [...menus.children(path), ...menus.commands(path)]
      : (menus.parameters(path, command) ?? []).map((name) => `${name}=`);
  return { from, words: [...new Set(words)].filter((each) => each.startsWith(word)).toSorted() };
}

/** Menu and command that complete words lead to, from a menu on. */
export function placeOf(menus: MenuTree, menu: string, text: string): { path: string; command?: string } {
  let path = text.startsWith('/') ? '' : menu;
  for (const word of text.split(/[\s/]+/).filter((each) => each !== '')) {
    if (word === '..') {
      path = path.slice(0, Math.max(0, path.lastIndexOf('/')));
      continue;
    }
    const child = soleMatch(menus.children(path), word);
    if (child === undefined) {
      const command = soleMatch(menus.commands(path), word);
      return command === undefined ? { path } : { path, command };
    }
    path = `${path}/${child}`;
  }
  return { path };
}

/** A menu that a line leads to when it consists of menus only; undefined when it is something else. */
export function menuOf(menus: MenuTree, menu: string, line: string): string | undefined {
  if (line === '/') return '';
  const words = line.split(/[\s/]+/).filter((each) => each !== '');
  if (words.length === 0 || /["{[;=:$]/.test(line)) return undefined;
  let path = line.startsWith('/') ? '' : menu;
  for (const word of words) {
    const child = word === '..' ? undefined : soleMatch(menus.children(path), word);
    if (word !== '..' && child === undefined) return undefined;
    path = word === '..' ? path.slice(0, Math.max(0, path.lastIndexOf('/'))) : `${path}/${child}`;
  }
  return path;
}

/** RouterOS takes the beginning of a name for the whole, if only one begins so. */
function soleMatch(names: readonly string[], word: string): string | undefined {
  if (names.includes(word)) return word;
  const matches = names.filter((name) => name.startsWith(word));
  return matches.length === 1 ? matches[0] : undefined;
}

/** The longest beginning that all words share. */
export function commonStart(words: readonly string[]): string {
  const [first = '', ...rest] = words;
  let length = first.length;
  for (const word of rest) while (!word.startsWith(first.slice(0, length))) length -= 1;
  return first.slice(0, length);
}
