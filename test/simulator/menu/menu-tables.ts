/**
 * Menus written as tables of text, for those that are only kept, checked, printed and exported:
 *
 *     /ip/ipsec/profile  unique=name since=6.44
 *       name             required
 *       lifetime         duration      =1d
 *       dpd-interval     disable-dpd|duration  =2m
 *     + name=default
 *
 * A line at the margin begins a menu; the lines under it are its properties: name, type, and how it is used.
 * A type is a plain one (text, if none is named), a range `1..10`, `list(…)`, `pair(…)`, `@/menu` (the name of an item
 * there), or several of these and words, joined by `|`; a word called like a type stands in quotes. `+` lines are entries that
 * every router has.
 */
import type { MenuDefinition, PlainType, Property, ValueType } from './definition.ts';
import { comment, FLAGS } from './definitions/parts.ts';
import { PLAIN_TYPES } from './values.ts';

type Draft = { -readonly [Key in keyof MenuDefinition]: MenuDefinition[Key] } & { properties: Record<string, Property> };

/** What a menu has that no table can say: commands, checks, live values. */
export type MenuExtras = Readonly<Record<string, Partial<MenuDefinition>>>;

/** Reads tables of menus. Throws RangeError for a word it does not know. */
export function readMenuTables(text: string, extras: MenuExtras = {}): MenuDefinition[] {
  const menus: Draft[] = [];
  for (const line of text.split('\n')) {
    const words = line
      .replace(/(?:^|\s)#.*/, '')
      .split(/\s+/)
      .filter((word) => word !== '');
    const [first = '', ...rest] = words;
    const menu = menus.at(-1);
    if (first === '') continue;
    if (first.startsWith('/')) menus.push(readHeader(first, rest));
    else if (!menu) throw new RangeError(`no menu before ${line}`);
    else if (first === '+') menu.entries = [...(menu.entries ?? []), Object.fromEntries(rest.map(readPair))];
    else menu.properties[first] = readProperty(rest);
  }
  return menus.map((menu) => ({ ...withEnd(menu), ...extras[menu.path] }));
}

function readPair(word: string): [string, string] {
  const cut = word.indexOf('=');
  return [word.slice(0, cut), word.slice(cut + 1)];
}

/** `flags` and `comment` are written in the header, but printed last. */
function withEnd(menu: Draft): MenuDefinition {
  const { flags, comment: hasComment, ...properties } = menu.properties;
  return { ...menu, properties: { ...properties, ...(flags ? FLAGS : {}), ...(hasComment ? { comment } : {}) } };
}

const HEADER_WORDS: Readonly<Record<string, (menu: Draft, value: string) => void>> = {
  single: (menu) => (menu.single = true),
  ordered: (menu) => (menu.ordered = true),
  flags: (menu) => (menu.properties['flags'] = {}),
  comment: (menu) => (menu.properties['comment'] = {}),
  /** The router's own observations. */
  observed: (menu) => Object.assign(menu, { volatile: true, noExport: true, without: ['add', 'set', 'remove', 'unset'] }),
  /** Entries come and go by themselves, and may be removed. */
  removable: (menu) => Object.assign(menu, { volatile: true, noExport: true, without: ['add', 'set', 'unset'], removableDynamic: true }),
  since: (menu, value) => (menu.since = value),
  until: (menu, value) => (menu.until = value),
  noun: (menu, value) => (menu.noun = value.replaceAll('_', ' ')),
  key: (menu, value) => (menu.nameProperty = value),
  unique: (menu, value) => (menu.unique = { properties: value.split(','), message: 'failure: already have item with such name' }),
};

function readHeader(path: string, words: readonly string[]): Draft {
  const menu: Draft = { path, properties: {} };
  for (const word of words) {
    const [name, value] = word.includes('=') ? readPair(word) : [word, ''];
    const apply = HEADER_WORDS[name];
    if (!apply) throw new RangeError(`${path}: unknown word ${word}`);
    apply(menu, value);
  }
  return menu;
}

const USES: Readonly<Record<string, Property>> = {
  required: { required: true },
  readonly: { readOnly: true },
  writeonly: { writeOnly: true },
  sensitive: { sensitive: true },
};

function readProperty(words: readonly string[]): Property {
  const property: Property = {};
  words.forEach((word, index) => {
    const use = USES[word];
    if (use) Object.assign(property, use);
    else if (word.startsWith('=')) property.default = word.slice(1);
    else if (/^(?:since|until)=/.test(word)) Object.assign(property, Object.fromEntries([readPair(word)]));
    else if (index === 0) property.type = readType(word);
    else throw new RangeError(`unknown word ${word}`);
  });
  // A switch is written as on the console and kept as the API prints it.
  if (property.type === 'bool' && property.default !== undefined) property.default = String(property.default === 'yes');
  return property;
}

function readType(text: string): ValueType {
  const parts = splitChoices(text);
  const made = parts.map(readMadeType);
  const words = parts.filter((_, index) => made[index] === undefined).map((word) => word.replaceAll("'", ''));
  const types = made.filter((type) => type !== undefined);
  if (types.length === 0) return words;
  return parts.length === 1 && types[0] !== undefined ? types[0] : { oneOf: words.length > 0 ? [words, ...types] : types };
}

/** Splits at `|` outside parentheses. */
function splitChoices(text: string): string[] {
  return text.match(/(?:[^|()]|\((?:[^()]|\([^()]*\))*\))+/g) ?? [];
}

function readMadeType(text: string): ValueType | undefined {
  const range = /^(-?\d+)\.\.(-?\d+)$/.exec(text);
  if (range) return { from: Number(range[1]), to: Number(range[2]) };
  if (text.startsWith('@')) return { ref: text.slice(1) };
  const made = /^(list|pair)\((.*)\)$/.exec(text);
  if (made) return made[1] === 'list' ? { listOf: readType(made[2] ?? '') } : { pairOf: readType(made[2] ?? '') };
  return PLAIN_TYPES.includes(text) ? (text as PlainType) : undefined;
}
