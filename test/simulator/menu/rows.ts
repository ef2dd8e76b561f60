import type { RouterState } from '../state.ts';
import type { MenuDefinition } from './definition.ts';
import type { Item } from './table.ts';
import { Trap, type Row } from './types.ts';

/** An item as its menu prints it: `.id` first, then the menu's properties in their order. */
export function rowOf(router: RouterState, menu: MenuDefinition, item: Item): Row {
  const live = menu.compute ? new Map(menu.compute(router, item)) : undefined;
  const row = new Map<string, string>();
  if (!menu.single) row.set('.id', item.id);
  for (const [name, property] of Object.entries(menu.properties)) {
    if (property.writeOnly || !router.version.within(property)) continue;
    const value = live?.has(name) ? live.get(name) : (item.values.get(name) ?? implied(name, item));
    if (value !== undefined && !(name === 'comment' && value === '')) row.set(name, value);
  }
  return row;
}

function implied(name: string, item: Item): string | undefined {
  if (name === 'dynamic') return String(item.dynamic);
  return name === 'invalid' ? 'false' : undefined;
}

/** Items of the menu, whether stored or made up on the spot. */
export function rowsOf(router: RouterState, menu: MenuDefinition): Row[] {
  if (menu.rows) return [...menu.rows(router)].map(looseRow);
  return itemsOf(router, menu).map((item) => rowOf(router, menu, item));
}

function looseRow(row: { id?: string; values: Iterable<readonly [string, string]> }): Row {
  return new Map(row.id === undefined ? row.values : [['.id', row.id], ...row.values]);
}

export function itemsOf(router: RouterState, menu: MenuDefinition): readonly Item[] {
  const items = router.table(menu.tableOf ?? menu.path).items;
  return menu.only ? items.filter(menu.only) : items;
}

export const noSuchItem = (): Trap => new Trap('no such item', 0);

/** One reference: id, name, or position as a console numbers it. */
export function findItem(router: RouterState, menu: MenuDefinition, reference: string): Item {
  const table = router.table(menu.tableOf ?? menu.path);
  const byId = table.byId(reference);
  if (byId && (menu.only?.(byId) ?? true)) return byId;
  const items = itemsOf(router, menu);
  const name = menu.nameProperty ?? 'name';
  const found = items.find((item) => item.values.get(name) === reference);
  if (found) return found;
  const numbered = /^\d+$/.test(reference) ? items[Number(reference)] : undefined;
  if (!numbered) throw noSuchItem();
  return numbered;
}

/** The items a changing command names by `.id`, `numbers` or `number`, comma- or semicolon-joined. */
export function namedItems(router: RouterState, menu: MenuDefinition, attributes: ReadonlyMap<string, string>): Item[] {
  const given = attributes.get('.id') ?? attributes.get('numbers') ?? attributes.get('number');
  if (given === undefined) throw new Trap('missing =.id=');
  const whole = router.table(menu.tableOf ?? menu.path).find(menu.nameProperty ?? 'name', given);
  if (whole && (menu.only?.(whole) ?? true)) return [whole];
  const references = given.split(/[,;]/).filter((reference) => reference !== '');
  return references.map((reference) => findItem(router, menu, reference));
}
