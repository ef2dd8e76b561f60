/** add, set, remove and their kin on any menu. */
import { findItem, itemsOf, namedItems, noSuchItem, rowOf, rowsOf } from './rows.ts';
import type { MenuContext, MenuDefinition, Property } from './definition.ts';
import type { Item } from './table.ts';
import { Trap, type CommandResult, type Row } from './types.ts';
import { noMatch, readValue } from './values.ts';

const REFERENCES = new Set(['.id', 'numbers', 'number', 'place-before', 'copy-from']);
const done = (): CommandResult => ({ rows: [] });

function readGiven(context: MenuContext): Map<string, string> {
  const given = new Map<string, string>();
  for (const [written, value] of context.call.attributes) {
    const name = written.replace(/^!/, '');
    const property = context.menu.properties[name];
    if (REFERENCES.has(name) || !property) continue;
    // `=!comment=` takes a value away, or back to its default.
    if (written !== name) given.set(name, property.default ?? '');
    else given.set(name, isUnsetting(property, value) ? '' : readValue(property.type ?? 'text', value, name, context.router));
  }
  return given;
}

/** `dst-port=""` takes a matcher away; an empty text stays a text. */
function isUnsetting(property: Property, value: string): boolean {
  return value === '' && property.default === undefined && !property.required;
}

function startingValues(context: MenuContext): Map<string, string> {
  const values = new Map<string, string>();
  for (const [name, property] of Object.entries(context.menu.properties)) {
    if (property.default !== undefined && context.router.version.within(property)) values.set(name, property.default);
  }
  const source = context.call.attributes.get('copy-from');
  if (source === undefined) return values;
  return new Map([...values, ...findItem(context.router, context.menu, source).values]);
}

function checkRequired(menu: MenuDefinition, values: ReadonlyMap<string, string>): void {
  for (const [name, property] of Object.entries(menu.properties)) {
    if (property.required && (values.get(name) ?? '') === '') throw new Trap(`missing =${name}=`);
  }
}

function checkUnique(context: MenuContext, values: ReadonlyMap<string, string>, self: Item | undefined): void {
  const { unique } = context.menu;
  if (!unique) return;
  // In the whole table, not only in this menu's part: an interface's name is taken whatever its kind.
  const twin = context.table.items.find(
    (item) => item !== self && unique.properties.every((name) => item.values.get(name) === values.get(name)),
  );
  if (twin) throw new Trap(unique.message);
}

function propose(context: MenuContext, values: Map<string, string>, given: ReadonlyMap<string, string>, item: Item | undefined): void {
  for (const [name, value] of given) {
    const property = context.menu.properties[name];
    if (property && isUnsetting(property, value)) values.delete(name);
    else values.set(name, value);
  }
  const { router, table, call } = context;
  context.menu.check?.({ router, table, values, given: new Set(given.keys()), item, call });
  checkUnique(context, values, item);
}

export function addItem(context: MenuContext): CommandResult {
  const values = startingValues(context);
  const given = readGiven(context);
  checkRequired(context.menu, new Map([...values, ...given]));
  propose(context, values, given, undefined);
  const place = context.call.attributes.get('place-before');
  const before = place === undefined ? undefined : findItem(context.router, context.menu, place);
  const item = context.table.add(values, { before, dynamic: context.menu.isDynamic?.(values) ?? false });
  logChange(context, 'added');
  return { rows: [], ret: item.id };
}

export function setItems(context: MenuContext): CommandResult {
  const items = context.menu.single
    ? itemsOf(context.router, context.menu)
    : namedItems(context.router, context.menu, context.call.attributes);
  const given = readGiven(context);
  for (const item of items) changeItem(context, item, given);
  if (items.length > 0) logChange(context, 'changed');
  return done();
}

function changeItem(context: MenuContext, item: Item, given: ReadonlyMap<string, string>): void {
  refuseDynamic(item, context);
  const values = new Map(item.values);
  propose(context, values, given, item);
  const gone = [...item.values.keys()].filter((name) => !values.has(name)).map((name) => [name, undefined] as const);
  context.table.update(item, [...values, ...gone]);
}

/** `can not change dynamic lease`; menus whose items have no name of their own stop at `dynamic`. */
function dynamicItem(verb: 'change' | 'remove', noun: string | undefined): Trap {
  return new Trap(`failure: can not ${verb} dynamic ${noun?.split(' ').at(-1) ?? ''}`.trimEnd());
}

function refuseDynamic(item: Item, { menu }: MenuContext): void {
  if (item.dynamic) throw dynamicItem('change', menu.noun);
}

export function removeItems(context: MenuContext): CommandResult {
  const items = namedItems(context.router, context.menu, context.call.attributes);
  for (const item of items) {
    const { router, table, call } = context;
    if (item.dynamic && !context.menu.removableDynamic) throw dynamicItem('remove', context.menu.noun);
    context.menu.check?.({ router, table, values: new Map(), given: new Set(['.remove']), item, call });
    table.remove(item);
  }
  if (items.length > 0) logChange(context, 'removed');
  return done();
}

export function switchItems(context: MenuContext): CommandResult {
  const disabled = String(context.call.command === 'disable');
  const items = namedItems(context.router, context.menu, context.call.attributes);
  for (const item of items) changeItem(context, item, new Map([['disabled', disabled]]));
  if (items.length > 0) logChange(context, 'changed');
  return done();
}

export function commentItems(context: MenuContext): CommandResult {
  const comment = context.call.attributes.get('comment') ?? '';
  for (const item of namedItems(context.router, context.menu, context.call.attributes)) {
    context.table.update(item, [['comment', comment === '' ? undefined : comment]]);
  }
  return done();
}

export function unsetValue(context: MenuContext): CommandResult {
  const name = context.call.attributes.get('value-name');
  if (name === undefined) throw new Trap('missing =value-name=');
  const property = context.menu.properties[name];
  if (!property || property.readOnly) throw noMatch('value-name');
  if (property.required) throw new Trap(`missing =${name}=`);
  for (const item of namedItems(context.router, context.menu, context.call.attributes)) {
    refuseDynamic(item, context);
    context.table.update(item, [[name, property.default]]);
  }
  return done();
}

export function moveItems(context: MenuContext): CommandResult {
  const destination = context.call.attributes.get('destination');
  const before = destination === undefined ? undefined : findItem(context.router, context.menu, destination);
  for (const item of namedItems(context.router, context.menu, context.call.attributes)) context.table.move(item, before);
  return done();
}

export function getValue(context: MenuContext): CommandResult {
  const { menu, call } = context;
  const row = wantedRow(context);
  const name = call.attributes.get('value-name');
  if (name === undefined) return { rows: [], ret: [...row].map(([key, value]) => `${key}=${value}`).join(';') };
  if (!menu.rows && !menu.properties[name] && name !== '.id') throw noMatch('value-name');
  return { rows: [], ret: row.get(name) ?? '' };
}

function wantedRow({ router, menu, call }: MenuContext): Row {
  if (menu.rows) {
    const reference = call.attributes.get('.id') ?? call.attributes.get('numbers') ?? call.attributes.get('number');
    const row = rowsOf(router, menu).find((each) => each.get('.id') === reference || each.get('name') === reference);
    if (!row) throw noSuchItem();
    return row;
  }
  const item = menu.single ? itemsOf(router, menu)[0] : namedItems(router, menu, call.attributes)[0];
  if (!item) throw noSuchItem();
  return rowOf(router, menu, item);
}

function logChange(context: MenuContext, what: 'added' | 'changed' | 'removed'): void {
  if (context.menu.noun) context.router.log('system,info', `${context.menu.noun} ${what} by ${context.call.session.user}`);
}
