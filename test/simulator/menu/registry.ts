/** All menus of one router, and the single entry through which commands reach them. */
import type { RouterState } from '../state.ts';
import { addItem, commentItems, getValue, moveItems, removeItems, setItems, switchItems, unsetValue } from './changes.ts';
import type { CustomCommand, MenuContext, MenuDefinition, StandardCommand } from './definition.ts';
import { findIds, followItems, PRINT_FLAGS, printItems } from './printing.ts';
import { rowsOf } from './rows.ts';
import { ItemTable } from './table.ts';
import { Trap, type CommandCall, type CommandResult, type MenuTree, type Row, type Session } from './types.ts';

/** Stands in where a directory has commands but no items. */
const NO_TABLE = new ItemTable();

/** Its counters and connections change by themselves. */
const FIREWALL = '/ip/firewall';

const READING = new Set(['print', 'getall', 'listen', 'get', 'find', 'export', 'edit']);
const NEVER_WRITES = new Set(['print', 'getall', 'listen', 'get', 'find']);

const STANDARD: Readonly<Record<StandardCommand, (context: MenuContext) => CommandResult | Promise<CommandResult>>> = {
  print: printItems,
  getall: printItems,
  listen: (context) => followItems(context, []),
  get: getValue,
  find: findIds,
  add: addItem,
  set: setItems,
  remove: removeItems,
  enable: switchItems,
  disable: switchItems,
  comment: commentItems,
  unset: unsetValue,
  move: moveItems,
  export: () => ({ rows: [] }),
  edit: () => ({ rows: [] }),
};

export type ExportMenus = (router: RouterState, menus: readonly MenuDefinition[], path: string, call: CommandCall) => CommandResult;

export class MenuRegistry implements MenuTree {
  readonly #router: RouterState;
  readonly #menus = new Map<string, MenuDefinition>();
  readonly #directories = new Map<string, Set<string>>([['', new Set()]]);
  readonly #tables = new Map<string, ItemTable>();
  readonly #export: ExportMenus;

  constructor(router: RouterState, definitions: readonly MenuDefinition[], exporter: ExportMenus) {
    this.#router = router;
    this.#export = exporter;
    for (const definition of definitions) {
      if (router.version.within(definition) && (definition.when?.(router) ?? true)) this.#install(definition);
    }
  }

  #install(menu: MenuDefinition): void {
    this.#menus.set(menu.path, menu);
    if (!menu.tableOf && !menu.bare) this.#tables.set(menu.path, newTable(menu));
    let parent = '';
    for (const name of menu.path.split('/').slice(1)) {
      this.#directories.get(parent)?.add(name);
      parent = `${parent}/${name}`;
      if (!this.#directories.has(parent)) this.#directories.set(parent, new Set());
    }
  }

  /** Every menu of this version, in the order an export lists them. */
  definitions(): MenuDefinition[] {
    return [...this.#menus.values()];
  }

  table(path: string): ItemTable | undefined {
    return this.#tables.get(path);
  }

  /** Back to what every router has; what `keep` names stays. */
  reset(keep: readonly string[]): void {
    for (const [path, table] of this.#tables) {
      const menu = this.#menus.get(path);
      if (!menu || menu.volatile || keep.includes(path)) continue;
      table.clear();
      fillTable(table, menu);
    }
  }

  hasPath(path: string): boolean {
    return this.#directories.has(clean(path));
  }

  children(path: string): readonly string[] {
    return [...(this.#directories.get(clean(path)) ?? [])];
  }

  commands(path: string): readonly string[] {
    const menu = this.#menus.get(clean(path));
    if (!menu) return this.hasPath(path) ? ['export'] : [];
    const custom = Object.entries(menu.custom ?? {}).filter(([, command]) => this.#router.version.within(command));
    return [...new Set([...standardCommands(menu), ...custom.map(([name]) => name)])];
  }

  parameters(path: string, command: string): readonly string[] | undefined {
    if (command === 'export') return exportParameters(this.#router);
    const menu = this.#menus.get(clean(path));
    if (!menu) return [];
    const custom = menu.custom?.[command];
    if (custom) return typeof custom.parameters === 'function' ? custom.parameters(this.#router) : custom.parameters;
    const settable = settableNames(this.#router, menu);
    return STANDARD_PARAMETERS[command as StandardCommand]?.(settable, menu) ?? [];
  }

  items(session: Session, path: string): Row[] {
    const menu = this.#menus.get(clean(path));
    if (!menu) throw new Trap('no such command', 0);
    this.#demand(session, menu.readPolicies ?? ['read']);
    return rowsOf(this.#router, menu);
  }

  async observe(path: string): Promise<void> {
    if (clean(path).startsWith(FIREWALL)) await this.#router.observe();
  }

  async run(call: CommandCall): Promise<CommandResult> {
    const path = clean(call.path);
    if (!this.#directories.has(path)) throw unknownPath(this.#router, path, this.#directories);
    if (!this.commands(path).includes(call.command)) throw new Trap('no such command', 0);
    const menu = this.#menus.get(path);
    const custom = menu?.custom?.[call.command];
    this.#demand(call.session, neededPolicies(call.command, menu, custom));
    this.#checkParameters(path, call);
    if (call.command === 'export') return this.#export(this.#router, this.definitions(), path, call);
    if (!menu) throw new Trap('no such command', 0);
    await this.observe(path);
    const context = { router: this.#router, menu, table: this.#tables.get(menu.tableOf ?? menu.path) ?? NO_TABLE, call };
    const run = custom ? custom.run : STANDARD[call.command as StandardCommand];
    return NEVER_WRITES.has(call.command) ? run(context) : this.#recorded(call, () => run(context));
  }

  async #recorded(call: CommandCall, run: () => CommandResult | Promise<CommandResult>): Promise<CommandResult> {
    const source = [...call.attributes].map(([name, value]) => `=${name}=${value}`).join(' ');
    const entry = { kind: 'command' as const, name: `${clean(call.path)}/${call.command}`, source, user: call.session.user };
    const execution = this.#router.executions.begin(entry);
    try {
      const result = await run();
      await this.#router.settled();
      execution.end('ok');
      return result;
    } catch (error) {
      execution.end(call.session.signal.aborted ? 'interrupted' : 'error', error instanceof Error ? error.message : String(error));
      throw error;
    }
  }

  #demand(session: Session, policies: readonly string[]): void {
    const missing = policies.some((policy) => !session.policies.has(policy) || this.#router.faults.missingPolicies.has(policy));
    if (missing) throw new Trap('not enough permissions (9)');
  }

  #checkParameters(path: string, call: CommandCall): void {
    const known = this.parameters(path, call.command);
    if (!known) return;
    const mayUnset = call.command === 'set' || call.command === 'add';
    for (const name of call.attributes.keys()) {
      const isKnown = known.includes(name) || (mayUnset && name.startsWith('!') && known.includes(name.slice(1)));
      if (name !== '.id' && !isKnown) throw new Trap(`unknown parameter ${name}`);
    }
  }
}

function newTable(menu: MenuDefinition): ItemTable {
  const table = new ItemTable(menu.firstId, menu.limit);
  fillTable(table, menu);
  return table;
}

/** What a menu holds on a router out of the box: its one record, or its standing entries. */
function fillTable(table: ItemTable, menu: MenuDefinition): void {
  for (const entry of menu.entries ?? []) table.add([...Object.entries(entry), ['builtin', 'true']]);
  if (!menu.single) return;
  table.add(Object.entries(menu.properties).flatMap(([name, { default: value }]) => (value === undefined ? [] : [[name, value] as const])));
}

const clean = (path: string): string => (path === '/' ? '' : path.replace(/\/+$/, ''));

function standardCommands(menu: MenuDefinition): StandardCommand[] {
  if (menu.bare) return ['export'];
  const all: StandardCommand[] = ['print', 'getall', 'listen', 'get', 'find', 'export', 'edit'];
  if (menu.single) all.push('set');
  else all.push('add', 'set', 'remove', 'unset');
  if (menu.properties['disabled']) all.push('enable', 'disable');
  if (menu.properties['comment']) all.push('comment');
  if (menu.ordered) all.push('move');
  return all.filter((command) => !menu.without?.includes(command) && !(menu.single && command === 'find'));
}

function settableNames(router: RouterState, menu: MenuDefinition): string[] {
  const usable = Object.entries(menu.properties).filter(([, property]) => !property.readOnly && router.version.within(property));
  return usable.map(([name]) => name);
}

const NUMBERS = ['numbers', 'number'];
const STANDARD_PARAMETERS: Readonly<Record<StandardCommand, (settable: string[], menu: MenuDefinition) => string[]>> = {
  print: () => PRINT_FLAGS,
  getall: () => PRINT_FLAGS,
  listen: () => PRINT_FLAGS,
  get: () => [...NUMBERS, 'value-name', 'as-string', 'as-string-value'],
  find: () => ['where'],
  add: (settable, menu) => [...settable, 'copy-from', ...(menu.ordered ? ['place-before'] : [])],
  set: (settable, menu) => (menu.single ? settable : [...settable, ...NUMBERS]),
  remove: () => NUMBERS,
  enable: () => NUMBERS,
  disable: () => NUMBERS,
  comment: () => [...NUMBERS, 'comment'],
  unset: () => [...NUMBERS, 'value-name'],
  move: () => [...NUMBERS, 'destination'],
  edit: () => [...NUMBERS, 'value-name'],
  export: () => [],
};

function exportParameters(router: RouterState): string[] {
  const common = ['compact', 'file', 'hide-sensitive', 'terse', 'verbose', 'where'];
  return router.version.major < 7 ? common : [...common, 'show-sensitive'];
}

function neededPolicies(command: string, menu: MenuDefinition | undefined, custom: CustomCommand | undefined): readonly string[] {
  if (custom?.policies) return custom.policies;
  if (READING.has(command)) return menu?.readPolicies ?? ['read'];
  return menu?.changePolicies ?? ['write'];
}

/** v7 names the first unknown segment and complains a second time; v6 only says the latter. */
function unknownPath(router: RouterState, path: string, directories: ReadonlyMap<string, unknown>): Trap {
  const prefix = new Trap('no such command prefix', 0);
  if (router.version.major < 7) return prefix;
  const segments = path.split('/').slice(1);
  const known = segments.findIndex((_, index) => !directories.has(`/${segments.slice(0, index + 1).join('/')}`));
  return new Trap(`no such command or directory (${segments[known] ?? ''})`, 0, prefix);
}
