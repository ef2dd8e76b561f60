import type { RouterState } from '../state.ts';
import type { Item, ItemTable } from './table.ts';
import type { CommandCall, CommandResult } from './types.ts';

/** Range of versions in which something exists: `[since, until)`. */
export interface VersionRange {
  since?: string;
  until?: string;
}

export type PlainType =
  | 'text'
  | 'bool'
  | 'int'
  | 'duration'
  | 'date'
  | 'ip'
  | 'prefix'
  | 'network'
  | 'addresses'
  | 'matcher'
  | 'listed'
  | 'target'
  | 'gateway'
  | 'range'
  | 'host'
  | 'rate'
  | 'mac'
  | 'interface'
  | 'interface-matcher'
  | 'ports'
  | 'policies'
  | 'time-zone'
  | 'key'
  | 'url';

/** What a value may be: a plain type, one of some words, or made of others. */
export type ValueType =
  | PlainType
  | readonly string[]
  /** A number in a range, both ends included. */
  | { readonly from: number; readonly to: number }
  /** Comma-separated. */
  | { readonly listOf: ValueType }
  /** `upload/download`; one value is used for both. */
  | { readonly pairOf: ValueType }
  /** The first that fits. */
  | { readonly oneOf: readonly ValueType[] }
  /** The name of an item of another menu. */
  | { readonly ref: string };

export interface Property extends VersionRange {
  type?: ValueType;
  /** Value of a new item when none is given; export leaves it out. */
  default?: string;
  required?: boolean;
  /** Printed, never set. */
  readOnly?: boolean;
  /** Set, never printed (passwords). */
  writeOnly?: boolean;
  /** Hidden in exports unless asked for. */
  sensitive?: boolean;
}

export interface MenuContext {
  router: RouterState;
  menu: MenuDefinition;
  table: ItemTable;
  call: CommandCall;
}

export interface CustomCommand extends VersionRange {
  /** Undefined: takes any. */
  parameters?: readonly string[] | ((router: RouterState) => readonly string[]);
  policies?: readonly string[];
  run(context: MenuContext): CommandResult | Promise<CommandResult>;
}

/** A change as it is about to be made: the values the item will have. Throw a Trap to refuse it. */
export interface ProposedChange {
  router: RouterState;
  table: ItemTable;
  values: Map<string, string>;
  /** Names given by the caller. */
  given: ReadonlySet<string>;
  item: Item | undefined;
  call: CommandCall;
}

/** One menu as data; what it cannot say as data it says by small functions. */
export interface MenuDefinition extends VersionRange {
  path: string;
  /** Only on routers for which this holds (boards, packages). */
  when?: (router: RouterState) => boolean;
  /** One record without ids. */
  single?: boolean;
  /** A directory with commands of its own but no items: only `custom` counts. */
  bare?: boolean;
  /** Items the router made may be removed all the same (leases, connections, jobs). */
  removableDynamic?: boolean;
  /** In print order; `comment` and the flags come last by themselves. */
  properties: Readonly<Record<string, Property>>;
  /** Standard commands left out: `add`, `remove`, … */
  without?: readonly StandardCommand[];
  custom?: Readonly<Record<string, CustomCommand>>;
  /** Items are found by this property as well as by id. Default `name`, if the menu has one. */
  nameProperty?: string;
  /** Entries that every router has; they are in no export. */
  entries?: readonly Readonly<Record<string, string>>[];
  /** Values that make a new item one of the router's own. */
  isDynamic?: (values: ReadonlyMap<string, string>) => boolean;
  /** Order matters: place-before and move. */
  ordered?: boolean;
  /** Items live in this menu's table; this one shows those that pass `only`. */
  tableOf?: string;
  only?: (item: Item) => boolean;
  firstId?: number;
  limit?: number;
  /** Further policies a changing command needs, instead of `write`. */
  changePolicies?: readonly string[];
  readPolicies?: readonly string[];
  /** What the log calls an item: "address added by admin". */
  noun?: string;
  /** Text of the trap for a second item with the same `unique` values. */
  unique?: { properties: readonly string[]; message: string };
  /** Live values, laid over the stored ones. */
  compute?: (router: RouterState, item: Item) => Iterable<readonly [string, string | undefined]>;
  /** Refuses or completes a change. */
  check?: (change: ProposedChange) => void;
  /** Rows that are not stored at all; replaces the table for reading. */
  rows?: (router: RouterState) => Iterable<{ id?: string; values: Iterable<readonly [string, string]> }>;
  /** Not part of a backup: the router's own observations. */
  volatile?: boolean;
  /** Never part of the whole router's export. */
  noExport?: boolean;
}

export type StandardCommand =
  | 'print'
  | 'getall'
  | 'listen'
  | 'get'
  | 'find'
  | 'add'
  | 'set'
  | 'remove'
  | 'enable'
  | 'disable'
  | 'comment'
  | 'unset'
  | 'move'
  | 'export'
  | 'edit';

/** Menu paths with leading slash, each segment once. */
export function parentOf(path: string): string {
  const cut = path.lastIndexOf('/');
  return cut <= 0 ? '' : path.slice(0, cut);
}
