import { Trap, type Row } from '../menu/types.ts';
import type { Expr } from './ast.ts';
import { holds } from './comparisons.ts';
import type { Environment, Item } from './environment.ts';
import { propertyValue } from './literals.ts';
import type { Machine } from './machine.ts';
import { entriesOf, nothing, toText, type Value } from './values.ts';

/** A property of an item; nothing when it is not set. */
export function itemValue(row: Row, name: string): Value {
  const text = row.get(name);
  return text === undefined ? nothing : propertyValue(name, text);
}

/** The items of a menu for which a condition holds; all of them without one. */
export async function filterItems(machine: Machine, path: string, where: Expr | undefined, env: Environment): Promise<Row[]> {
  await machine.menus.observe(path);
  const rows = machine.menus.items(machine.session, path);
  return where === undefined ? rows : filterRows(machine, path, rows, where, env);
}

/** Those of the given rows for which a condition holds. */
export async function filterRows(machine: Machine, path: string, rows: readonly Row[], where: Expr, env: Environment): Promise<Row[]> {
  const names = propertyNames(machine, path, rows);
  const kept: Row[] = [];
  for (const row of rows) {
    await machine.tick();
    const item: Item = { names, value: (name) => itemValue(row, name) };
    if (holds(await machine.evaluate(where, env.at(item)))) kept.push(row);
  }
  return kept;
}

/** Names that mean a property in a `where`, even where this item has none: they hide variables called alike. */
function propertyNames(machine: Machine, path: string, rows: readonly Row[]): Set<string> {
  const names = new Set(machine.menus.commands(path).includes('set') ? machine.menus.parameters(path, 'set') : []);
  for (const row of rows) for (const name of row.keys()) names.add(name);
  return names;
}

/** Ids for numbers, names or ids. Throws Trap when one of them is no item. */
export function resolveIds(rows: readonly Row[], value: Value): string[] {
  const words = entriesOf(value).flatMap((entry) => toText(entry.value).split(','));
  return words.map((word) => {
    const row =
      rows.find((candidate) => candidate.get('.id') === word) ??
      rows.find((candidate) => candidate.get('name') === word) ??
      (/^\d+$/.test(word) ? rows[Number(word)] : undefined);
    const id = row?.get('.id');
    if (id === undefined) throw new Trap('no such item', 0);
    return id;
  });
}
