import { AgentError } from '../core/errors.ts';
import { quote } from '../../routeros-text/quote.ts';
import { refusalIn } from '../../routeros-text/refusals.ts';
import type { RouterAdapter, RouterRow } from '../routers/adapter.ts';
import { parseRecord, parseTerse } from './terse.ts';
import type { Flags } from './terse.ts';

/** What to read: a menu, the properties wanted (all if none is named), and which rows. */
export interface Reading {
  /** API path without the command: `/ip/arp`. */
  menu: string;
  properties: readonly string[];
  /** Rows whose property has one of these values. */
  where?: { property: string; anyOf: readonly string[] };
  /** Flag letters on the console; undefined: a menu with a single record. */
  flags?: Flags;
}

/** For one menu, in milliseconds: an ARP table of 5,000 entries takes a slow board some seconds. */
const READ_TIMEOUT_MS = 30_000;
/** Largest console output: 20,000 leases in terse form. */
const CONSOLE_BYTES = 8 * 1024 * 1024;

/**
 * Rows of a menu, over the API, or the console where the router has only SSH.
 * @returns undefined when the router refuses: it has no such menu, or its user may not read it
 * @throws AgentError when it does not answer
 */
export async function readMenu(router: RouterAdapter, reading: Reading, signal: AbortSignal): Promise<RouterRow[] | undefined> {
  const deadline = { timeoutMs: READ_TIMEOUT_MS, signal };
  try {
    if (router.hasApi) return (await router.command({ path: `${reading.menu}/print`, words: apiWords(reading) }, deadline)).rows;
    const { text } = await router.console(consoleLine(reading), { ...deadline, maxBytes: CONSOLE_BYTES });
    return parseConsole(text, reading);
  } catch (error) {
    if (error instanceof AgentError && (error.code === 'rejected' || error.code === 'unsupported')) return undefined;
    throw error;
  }
}

function apiWords({ properties, where }: Reading): string[] {
  const queries = where?.anyOf.map((value) => `?${where.property}=${value}`) ?? [];
  const or = queries.length > 1 ? [`?#${'|'.repeat(queries.length - 1)}`] : [];
  const wanted = properties.length > 0 ? [`=.proplist=${properties.join(',')}`] : [];
  return [...wanted, ...queries, ...or];
}

/** The console command: `/ip arp print terse` for `/ip/arp`. */
function consoleLine({ menu, where, flags }: Reading): string {
  const path = `/${menu.slice(1).replaceAll('/', ' ')} print`;
  if (!flags) return path;
  const conditions = where?.anyOf.map((value) => `${where.property}=${quote(value)}`).join(' or ');
  return `${path} terse${conditions === undefined ? '' : ` where ${conditions}`}`;
}

function parseConsole(text: string, { flags }: Reading): RouterRow[] | undefined {
  if (refusalIn(text) !== undefined) return undefined;
  return flags ? parseTerse(text, flags) : [parseRecord(text)];
}

/** An item of a menu. */
export interface NamedItem {
  id: string;
  name: string;
}

/** Names that are safe in commands. Bytes that are not UTF-8 would come back changed. */
const PLAIN_NAME = /^[\x21-\x7e]+$/;

/** How to refer to an item in a command: by its name, or by its id where the name is not safe. */
export function itemNumber({ id, name }: NamedItem): string {
  return (PLAIN_NAME.test(name) && !name.includes(',')) || id === '' ? name : id;
}

/**
 * Samples several items of a menu at once. API only.
 * @param argument the command's name for the items
 * @returns undefined when the router has no such command
 */
export async function sampleItems(
  router: RouterAdapter,
  { path, numbers, argument = 'numbers' }: { path: string; numbers: readonly string[]; argument?: string },
  signal: AbortSignal,
): Promise<RouterRow[] | undefined> {
  if (!router.hasApi) return undefined;
  try {
    const words = [`=${argument}=${numbers.join(',')}`, '=once='];
    return (await router.command({ path, words }, { timeoutMs: READ_TIMEOUT_MS, signal })).rows;
  } catch (error) {
    if (error instanceof AgentError && error.code === 'rejected') return undefined;
    throw error;
  }
}

/** Runs a command that takes samples, once. API only. @returns undefined when the router has no such command */
export async function sampleOnce(router: RouterAdapter, path: string, signal: AbortSignal): Promise<RouterRow | undefined> {
  if (!router.hasApi) return undefined;
  try {
    return (await router.command({ path, words: ['=once='] }, { timeoutMs: READ_TIMEOUT_MS, signal })).rows[0];
  } catch (error) {
    if (error instanceof AgentError && error.code === 'rejected') return undefined;
    throw error;
  }
}
