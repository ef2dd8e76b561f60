import { AgentError } from '../core/errors.ts';
import type { ApiCommand, CommandReply, RouterRow } from './adapter.ts';
import { parseAttribute } from './routeros-api/index.ts';
import { quote } from '../../routeros-text/quote.ts';

/**
 * Converts API commands to console lines, and their output to replies, for routers with SSH only. Supports print, add and commands
 * without output; queries only as equalities joined by AND. Anything that cannot be converted exactly is refused as `unsupported`.
 */

export interface ConsoleCommand {
  line: string;
  /** Converts the output to a reply. @throws AgentError `rejected` with the router's own text */
  read: (output: string) => CommandReply;
}

/** Flags of `print` that only add to the output. */
const PRINT_FLAGS = new Set(['detail', 'stats', 'terse', 'without-paging']);
/** Commands that do not end by themselves. */
const ENDLESS = new Set(['listen', 'monitor', 'monitor-traffic', 'torch', 'sniffer']);

const NAME = /^[a-z0-9.-]+$/i;

/**
 * @param nonce printed last: if it is missing, the line did not run to its end
 * @throws AgentError `unsupported`, `invalid`
 */
export function toConsole({ path, words }: ApiCommand, nonce: string): ConsoleCommand {
  const parts = path.split('/').filter((part) => part !== '');
  const verb = parts.pop();
  if (verb === undefined || ![...parts, verb].every((part) => NAME.test(part))) {
    throw new AgentError('invalid', `not a command path: ${JSON.stringify(path)}`);
  }
  if (ENDLESS.has(verb)) throw unsupported(`${verb} over a console`);
  const menu = `/${parts.join(' ')}`;
  const done = `; :put "${nonce}"`;
  if (verb === 'print') return printing(menu, words, nonce, done);
  const command = [parts.length === 0 ? rootCommand(verb) : `${menu} ${verb}`, ...words.map(argument)].join(' ');
  if (verb === 'add') return { line: `:put [${command}]${done}`, read: (output) => ({ rows: [], ret: upTo(output, nonce) }) };
  return { line: `${command}${done}`, read: (output) => withoutRows(upTo(output, nonce)) };
}

/** Commands of the API's root that belong to the console language, not to a menu. */
function rootCommand(verb: string): string {
  return verb === 'execute' ? `:${verb}` : `/${verb}`;
}

function unsupported(what: string): AgentError {
  return new AgentError('unsupported', `${what} needs the RouterOS API, which is not configured for this router`);
}

function withoutRows(printed: string): CommandReply {
  return printed === '' ? { rows: [] } : { rows: [], ret: printed };
}

/** `=address=10.0.0.1/24` as `address="10.0.0.1/24"`; `.id` becomes `numbers`, unquoted. */
function argument(word: string): string {
  const [name, value] = parseAttribute(word.startsWith('.') ? `=${word}` : word) ?? [];
  if (name === undefined || value === undefined || !NAME.test(name)) throw unsupported(`the word ${JSON.stringify(word)}`);
  if (name !== '.id' && name !== 'numbers') return `${name}=${quote(value)}`;
  return /^\*[0-9A-F]+(?:,\*[0-9A-F]+)*$/i.test(value) ? `numbers=${value}` : `numbers=${quote(value)}`;
}

function printing(menu: string, words: readonly string[], nonce: string, done: string): ConsoleCommand {
  const flags: string[] = [];
  const conditions: string[] = [];
  let properties: string[] | undefined;
  for (const word of words) {
    const [name = '', value = ''] = parseAttribute(word.startsWith('.') ? `=${word}` : word) ?? [];
    if (word.startsWith('?')) conditions.push(condition(word));
    else if (name === '.proplist') properties = value.split(',');
    else if (PRINT_FLAGS.has(name)) flags.push(name);
    else throw unsupported(`the word ${JSON.stringify(word)}`);
  }
  const where = conditions.length === 0 ? [] : ['where', conditions.join(' and ')];
  const line = `:put [${[menu, 'print', ...flags, 'as-value', ...where].join(' ')}]${done}`;
  return { line, read: (output) => ({ rows: parseAsValue(upTo(output, nonce)).map((row) => only(row, properties)) }) };
}

/** `?type=ether` and `?=type=ether`; a console has no equivalent for other queries. */
function condition(word: string): string {
  const match = /^\?=?([a-z.][a-z0-9.-]*)=(.*)$/is.exec(word);
  if (!match) throw unsupported(`the query ${JSON.stringify(word)}`);
  const [, name = '', value = ''] = match;
  // Numbers, addresses and booleans must be unquoted to compare by value.
  return `${name}=${/^(?:\*[0-9A-F]+|[0-9.:/]+|true|false|yes|no)$/i.test(value) ? value : quote(value)}`;
}

function only(row: RouterRow, properties: string[] | undefined): RouterRow {
  if (!properties) return row;
  return Object.fromEntries(Object.entries(row).filter(([name]) => properties.includes(name)));
}

/** The output before the nonce. @throws AgentError `rejected` when it is missing: the line stopped early */
function upTo(output: string, nonce: string): string {
  const end = output.trimEnd();
  if (end === nonce) return '';
  if (end.endsWith(`\n${nonce}`)) return end.slice(0, -nonce.length - 1);
  throw new AgentError(
    'rejected',
    end
      .split('\n')
      .find((line) => line.trim() !== '')
      ?.trim() ?? 'the router printed nothing',
  );
}

/**
 * `.id=*1;address=10.0.0.1/24;…;.id=*2;…` as rows. A value that contains `;name=` cannot be distinguished from the next property; the
 * console has no other format.
 */
export function parseAsValue(text: string): RouterRow[] {
  if (text.trim() === '') return [];
  return text
    .split(/[;\n](?=\.id=\*[0-9A-F]+(?:;|$))/i)
    .map((record) => Object.fromEntries(record.split(/;(?=[a-z.][a-z0-9.-]*=)/i).map(pair)));
}

function pair(text: string): [string, string] {
  const at = text.indexOf('=');
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}
