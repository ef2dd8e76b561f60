import { invalidField } from '../../platform/core/errors.ts';
import { splitConsoleWords } from './console-words.ts';
import type { ConsoleWord } from './console-words.ts';
import { toQueryWords } from './where.ts';

/** A command as the RouterOS API wants it. */
export interface ApiCommand {
  /** `/ip/address/print` */
  path: string;
  /** `=disabled=no`, `?type=ether`, `=.proplist=name`, in the caller's order. */
  words: string[];
}

const ATTRIBUTE = /^[A-Za-z0-9._-]+$/;
const SEGMENT = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;
/** Words in `parameters`; more than this is a mistake. */
export const MAX_WORDS = 500;
/** Length of one word; the tunnel allows 65,536 including the prefix added here. */
const MAX_WORD_CHARS = 65_000;

/**
 * Reads `command` and `parameters` of a command (docs/commands.md). `/ip/address/print`, `/ip address print` and
 * `ip address print` are the same command.
 * @throws AppError `invalid` naming the field and the reason
 */
export function parseCommand(command: string, parameters: string | readonly string[]): ApiCommand {
  const segments = segmentsOf(command);
  if (segments.length === 0) throw invalidField('command', 'must name a command, for example /ip/address/print');
  for (const segment of segments) {
    if (!SEGMENT.test(segment)) {
      throw invalidField('command', `"${segment.slice(0, 50)}" is not part of a command path; values belong in parameters`);
    }
  }
  const words = typeof parameters === 'string' ? parseParameters(parameters) : parameters.map(toApiWord);
  if (words.length > MAX_WORDS) throw invalidField('parameters', `more than ${MAX_WORDS} words`);
  if (words.some((word) => word.length > MAX_WORD_CHARS))
    throw invalidField('parameters', `a word is longer than ${MAX_WORD_CHARS} characters`);
  const result = { path: `/${segments.join('/')}`, words };
  refuseUnsafe(result);
  return result;
}

/** What follows these words of a command is a value, also where somebody has written it into the path. */
const VERBS = new Set(
  'print get find add set remove enable disable unset move comment edit export import monitor fetch run send ping ssh login password'.split(
    ' ',
  ),
);

/** The path of a command for the audit log, without any value; null for one that is none. */
export function auditedPath(command: string): string | null {
  const segments = segmentsOf(command);
  const verb = segments.findIndex((segment) => VERBS.has(segment));
  const path = verb === -1 ? segments : segments.slice(0, verb + 1);
  return path.length > 0 && path.every((segment) => SEGMENT.test(segment)) ? `/${path.join('/')}` : null;
}

function segmentsOf(command: string): string[] {
  return command
    .trim()
    .split(/[\s/]+/)
    .filter(Boolean);
}

/** API words one per line, a JSON array of them, or console style. */
function parseParameters(parameters: string): string[] {
  if (parameters.trim() === '') return [];
  const text = parameters.trimStart();
  if (text.includes('\0')) throw invalidField('parameters', 'must not contain NUL characters');
  if (text.startsWith('[')) return parseJsonWords(text).map(toApiWord);
  // A value may end with blanks.
  const lines = text
    .split(/\r?\n/)
    .map((line) => line.trimStart())
    .filter(Boolean);
  if (lines.some((line) => line.startsWith('=') || line.startsWith('?'))) return lines.map(toApiWord);
  return toApiWords(splitConsoleWords(text));
}

function parseJsonWords(text: string): string[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalidField(
      'parameters',
      'starts with "[" but is not a JSON array of words; console expressions like [find …] cannot be used here',
    );
  }
  if (!Array.isArray(value) || !value.every((word) => typeof word === 'string')) {
    throw invalidField('parameters', 'the JSON array must contain only strings');
  }
  return value;
}

/** Accepts `.proplist=…` and `.id=…` without the leading `=` that the API needs; rejects words that would disturb the session. */
function toApiWord(word: string): string {
  if (word.includes('\0')) throw invalidField('parameters', 'must not contain NUL characters');
  const full = /^\.(?:proplist|id)=/.test(word) ? `=${word}` : word;
  if (/^=?\.tag\b/.test(full)) throw invalidField('parameters', '.tag is used by the service itself');
  if (full.startsWith('?')) return full;
  if (/^=[^=]+=/s.test(full)) return full;
  if (/^=[^=]+$/s.test(full)) return `${full}=`;
  throw invalidField('parameters', `"${word.slice(0, 50)}" is no API word; write =name=value or ?name=value`);
}

/** Converts console words to API words: a name without a value is a flag, words after `where` become a query. */
function toApiWords(words: ConsoleWord[]): string[] {
  const where = words.findIndex((word) => word.name === 'where' && word.value === undefined);
  const attributes = where < 0 ? words : words.slice(0, where);
  const query = where < 0 ? [] : toQueryWords(words.slice(where + 1));
  return [...attributes.map(toAttribute), ...query];
}

function toAttribute({ name, value }: ConsoleWord): string {
  if (name === '.tag') throw invalidField('parameters', '.tag is used by the service itself');
  if (!ATTRIBUTE.test(name)) throw invalidField('parameters', `"${name.slice(0, 50)}" is no parameter name`);
  return `=${name}=${value ?? ''}`;
}

const SESSION_COMMANDS = new Set(['/login', '/quit', '/cancel', '/logout']);
/** Commands that run until stopped, unless one of these words limits them. */
const ENDLESS: { last: RegExp; bounds: string[] }[] = [
  { last: /^listen$/, bounds: [] },
  {
    last: /^(?:monitor|monitor-traffic|profile|sniffer|torch|scan|spectral-scan|spectral-history|snooper|frequency-monitor|align|watch|blink)$/,
    bounds: ['once', 'duration'],
  },
  { last: /^(?:ping|arp-ping|ping-speed|flood-ping)$/, bounds: ['count', 'duration'] },
  { last: /^(?:traceroute|bandwidth-test|speed-test|mac-scan|ip-scan|wol-scan|netwatch)$/, bounds: ['count', 'duration', 'test-duration'] },
];

/** The agent's session is shared: no command may end it or occupy it forever. */
function refuseUnsafe(command: ApiCommand): void {
  if (SESSION_COMMANDS.has(command.path)) {
    throw invalidField('command', `${command.path} belongs to the session, which the agent manages`);
  }
  const names = new Set(command.words.map((word) => /^=([^=]+)=/s.exec(word)?.[1]).filter((name) => name !== undefined));
  if (names.has('follow') || names.has('follow-only')) {
    throw invalidField('parameters', 'follow never ends; leave it out');
  }
  const last = command.path.slice(command.path.lastIndexOf('/') + 1);
  // In other menus it is a property, for example of a scheduler entry, or the pause between a limited number of steps.
  if (last === 'print' && names.has('interval')) throw invalidField('parameters', 'interval repeats forever; leave it out');
  const rule = ENDLESS.find((candidate) => candidate.last.test(last));
  if (!rule || rule.bounds.some((bound) => names.has(bound))) return;
  const hint = rule.bounds.length === 0 ? 'use print instead' : `add ${rule.bounds.map((bound) => `"${bound}"`).join(' or ')}`;
  throw invalidField('command', `${last} never ends by itself; ${hint}`);
}
