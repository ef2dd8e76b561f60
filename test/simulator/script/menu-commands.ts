import { Trap, type CommandCall, type CommandResult, type Row } from '../menu/types.ts';
import type { Arg } from './ast.ts';
import type { Environment } from './environment.ts';
import { filterItems, itemValue, resolveIds } from './items.ts';
import type { Machine, MenuStatement } from './machine.ts';
import { printMenu } from './print-command.ts';
import { formatRecord } from './print-format.ts';
import { pingHead, pingLine, pingSums } from './print-ping.ts';
import { propertyValue } from './literals.ts';
import { list, nothing, str, toAttribute, toText, type Entry, type Value } from './values.ts';

/** Parameters that name items of the menu by number, name or id. */
const itemParameters = new Set(['numbers', 'number', 'destination', 'place-before', 'copy-from']);

/** Runs one menu command. The value is what `[…]` around it gives. */
export async function runMenu(machine: Machine, statement: MenuStatement, env: Environment, wanted: boolean): Promise<Value> {
  if (statement.command === 'find') {
    const rows = await filterItems(machine, statement.path, statement.where, env);
    return list(rows.map((row): Value => ({ type: 'id', text: row.get('.id') ?? '' })));
  }
  const values = await evaluateArgs(machine, statement.args, env);
  if (statement.command === 'get') return getValue(machine, statement.path, values);
  if (statement.command === 'print') return printMenu(machine, statement, values, env, wanted);
  return runOther(machine, statement, values, wanted);
}

async function evaluateArgs(machine: Machine, args: readonly Arg[], env: Environment): Promise<Map<string, Value>> {
  const values = new Map<string, Value>();
  for (const arg of args) {
    const name = `${arg.negated === true ? '!' : ''}${arg.name ?? ''}`;
    values.set(name, arg.value === undefined ? str('') : await machine.evaluate(arg.value, env));
  }
  return values;
}

/** `get [find …] name`; in a menu of one record the first value is the property. */
function getValue(machine: Machine, path: string, values: ReadonlyMap<string, Value>): Value {
  const rows = machine.menus.items(machine.session, path);
  const single = rows.length === 1 && rows[0]?.has('.id') === false;
  const numbers = values.get('numbers') ?? values.get('number') ?? values.get('.id');
  const name = values.get('value-name') ?? (single ? numbers : undefined);
  const row = single ? rows[0] : oneRow(rows, numbers);
  if (row === undefined) throw new Trap('no such item', 0);
  if (name === undefined) return rowValue(row);
  return itemValue(row, toText(name));
}

function oneRow(rows: readonly Row[], numbers: Value | undefined): Row | undefined {
  if (numbers === undefined) throw new Trap('missing value(s) of argument(s) number');
  const ids = resolveIds(rows, numbers);
  if (ids.length > 1) throw new Trap('invalid internal item number');
  return rows.find((row) => row.get('.id') === ids[0]);
}

/** A whole item as a list by name. */
export function rowValue(row: Row): Value {
  return { type: 'array', entries: [...row].map(([key, text]): Entry => ({ key, value: propertyValue(key, text) })) };
}

async function runOther(machine: Machine, statement: MenuStatement, values: ReadonlyMap<string, Value>, wanted: boolean): Promise<Value> {
  const attributes = new Map<string, string>();
  for (const [name, value] of values) {
    if (name.startsWith('!')) continue;
    if (!itemParameters.has(name) || !hasIds(machine, statement.path)) attributes.set(name, toAttribute(value));
    else if (!setIds(machine, statement.path, name, value, attributes)) return nothing;
  }
  const unset = [...values.keys()].filter((name) => name.startsWith('!'));
  await unsetProperties(machine, statement, unset, attributes);
  const changesMore = [...attributes.keys()].some((name) => name !== '.id');
  return unset.length > 0 && !changesMore ? nothing : execute(machine, statement, attributes, wanted);
}

function hasIds(machine: Machine, path: string): boolean {
  return (
    path !== '/' &&
    machine.menus.commands(path).includes('print') &&
    machine.menus.items(machine.session, path).every((row) => row.has('.id'))
  );
}

/** False when the list of items is empty: `remove [find …]` that finds nothing does nothing. */
function setIds(machine: Machine, path: string, name: string, value: Value, attributes: Map<string, string>): boolean {
  if (value.type === 'array' && value.entries.length === 0) return false;
  const ids = resolveIds(machine.menus.items(machine.session, path), value);
  attributes.set(name === 'numbers' || name === 'number' ? '.id' : name, ids.join(','));
  return true;
}

/** `set … !comment` is an `unset` of that property. */
async function unsetProperties(
  machine: Machine,
  statement: MenuStatement,
  names: readonly string[],
  attributes: ReadonlyMap<string, string>,
): Promise<void> {
  for (const name of names) {
    const unset = new Map([['value-name', name.slice(1)]]);
    const id = attributes.get('.id');
    if (id !== undefined) unset.set('.id', id);
    await machine.menus.run({ session: machine.session, path: statement.path, command: 'unset', attributes: unset });
  }
}

async function execute(
  machine: Machine,
  statement: MenuStatement,
  attributes: ReadonlyMap<string, string>,
  wanted: boolean,
): Promise<Value> {
  const { path, command } = statement;
  const printer = createSamplePrinter(machine, command);
  const call: CommandCall = { session: machine.session, path, command, attributes };
  const result = await runWithConsole(machine, wanted ? call : { ...call, onRow: printer.show });
  if (wanted) return resultValue(result.rows, result.ret);
  if (result.text !== undefined) machine.write(result.text);
  else if (command !== 'run') printer.finish(result.rows);
  if (result.ret !== undefined && command === 'export') machine.write(withCrlf(result.ret));
  return resultValue([], result.ret);
}

/**
 * A script run by this command prints here. The message of the error that ends it is printed where the error ends the
 * outermost script, not once per script on its way.
 */
async function runWithConsole(machine: Machine, call: CommandCall): Promise<CommandResult> {
  let held = '';
  const write = (text: string): void => {
    machine.write(held);
    held = text;
  };
  try {
    return await machine.menus.run({ ...call, write });
  } catch (error) {
    if (error instanceof Trap && `${error.message}\r\n`.endsWith(held)) held = '';
    throw error;
  } finally {
    machine.write(held);
  }
}

/** Shows samples as they come, or the rows of a command that gave them all at the end. A ping prints a table. */
function createSamplePrinter(machine: Machine, command: string): { show(row: Row): void; finish(rows: readonly Row[]): void } {
  const isPing = command === 'ping';
  let last: Row | undefined;
  const show = (row: Row): void => {
    if (isPing) machine.write(last === undefined ? `${pingHead}${pingLine(row)}` : pingLine(row));
    else machine.write(formatRecord(row));
    last = row;
  };
  const finish = (rows: readonly Row[]): void => {
    if (last === undefined) rows.forEach(show);
    if (isPing && last !== undefined) machine.write(pingSums(last));
  };
  return { show, finish };
}

function resultValue(rows: readonly Row[], ret: string | undefined): Value {
  if (ret !== undefined) return propertyValue('', ret);
  if (rows.length === 0) return nothing;
  const values = rows.map(rowValue);
  return values.length === 1 && values[0] !== undefined ? values[0] : list(values);
}

function withCrlf(text: string): string {
  const lines = text.replaceAll('\r\n', '\n').replace(/\n$/, '');
  return lines === '' ? '' : `${lines.replaceAll('\n', '\r\n')}\r\n`;
}
