import { Trap, type Row } from '../menu/types.ts';
import type { Environment } from './environment.ts';
import { filterRows } from './items.ts';
import { propertyValue } from './literals.ts';
import type { Machine, MenuStatement } from './machine.ts';
import { formatList, formatRecord, type NumberedRow } from './print-format.ts';
import { list, nothing, num, toAttribute, toText, type Entry, type Value } from './values.ts';

/** Words of `print` that the console works out itself; the rest goes to the menu. */
const consoleWords = new Set([
  'terse',
  'brief',
  'without-paging',
  'as-value',
  'where',
  'file',
  'value-list',
  'append',
  'show-ids',
  'from',
  'proplist',
  'count-only',
  'numbers',
]);

/** `print` in all its forms. Gives a value for `as-value` and `count-only` inside `[…]`, else prints. */
export async function printMenu(
  machine: Machine,
  statement: MenuStatement,
  values: ReadonlyMap<string, Value>,
  env: Environment,
  wanted: boolean,
): Promise<Value> {
  if (values.has('follow') || values.has('follow-only')) return followMenu(machine, statement, values);
  const rows = await readRows(machine, statement, values, env);
  if (values.has('count-only')) return giveCount(machine, rows.length, wanted);
  if (values.has('as-value')) return asValue(rows);
  const text = formatRows(machine, statement, rows, values);
  const file = values.get('file');
  if (file === undefined) machine.write(text);
  else machine.saveFile(`${toText(file)}.txt`, text);
  return nothing;
}

async function readRows(
  machine: Machine,
  statement: MenuStatement,
  values: ReadonlyMap<string, Value>,
  env: Environment,
): Promise<NumberedRow[]> {
  const result = await machine.menus.run({
    session: machine.session,
    path: statement.path,
    command: 'print',
    attributes: menuWords(values),
  });
  const numbers = new Map(result.rows.map((row, number) => [row, number]));
  const kept = statement.where === undefined ? result.rows : await filterRows(machine, statement.path, result.rows, statement.where, env);
  const from = values.get('from');
  const chosen = from === undefined ? kept : pickRows(result.rows, from);
  return chosen.map((row) => ({ row, number: numbers.get(row) ?? 0 }));
}

function pickRows(rows: readonly Row[], from: Value): Row[] {
  return toAttribute(from)
    .split(',')
    .filter((word) => word !== '')
    .map((word) => {
      const row =
        rows.find((candidate) => candidate.get('.id') === word || candidate.get('name') === word) ??
        (/^\d+$/.test(word) ? rows[Number(word)] : undefined);
      if (row === undefined) throw new Trap('no such item', 0);
      return row;
    });
}

function menuWords(values: ReadonlyMap<string, Value>): Map<string, string> {
  return new Map([...values].filter(([name]) => !consoleWords.has(name)).map(([name, value]) => [name, toAttribute(value)]));
}

async function followMenu(machine: Machine, statement: MenuStatement, values: ReadonlyMap<string, Value>): Promise<Value> {
  let number = 0;
  const onRow = (row: Row): void => {
    machine.write(formatList([{ row, number }], { path: statement.path, version: machine.version, style: 'terse' }));
    number += 1;
  };
  await machine.menus.run({ session: machine.session, path: statement.path, command: 'print', attributes: menuWords(values), onRow });
  return nothing;
}

function giveCount(machine: Machine, count: number, wanted: boolean): Value {
  if (!wanted) machine.write(`${count}\r\n`);
  return num(count);
}

function asValue(rows: readonly NumberedRow[]): Value {
  const first = rows[0]?.row;
  if (rows.length === 1 && first !== undefined && !first.has('.id')) return itemList(first);
  return list(rows.map(({ row }) => itemList(row)));
}

function itemList(row: Row): Value {
  return { type: 'array', entries: [...row].map(([key, text]): Entry => ({ key, value: propertyValue(key, text) })) };
}

function formatRows(machine: Machine, statement: MenuStatement, rows: readonly NumberedRow[], values: ReadonlyMap<string, Value>): string {
  const first = rows[0]?.row;
  if (rows.length === 1 && first !== undefined && !first.has('.id')) return formatRecord(first);
  const proplist = values.get('proplist');
  return formatList(rows, {
    path: statement.path,
    version: machine.version,
    style: values.has('terse') ? 'terse' : values.has('detail') ? 'detail' : 'table',
    proplist: proplist === undefined ? undefined : toAttribute(proplist).split(','),
    ids: values.has('show-ids'),
    stats: values.has('stats') || values.has('stats-detail'),
  });
}
