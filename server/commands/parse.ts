import { invalidField } from '../core/errors.ts';
import { splitConsoleWords } from './console-words.ts';

/** A command as the RouterOS API wants it. */
export interface ApiCommand {
  /** `/ip/address/print` */
  path: string;
  /** `=disabled=no`, `?type=ether`, `=.proplist=name`, in the caller's order. */
  words: string[];
}

const SEGMENT = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;
/** Words in `parameters`; more is a mistake, not a command. */
const MAX_WORDS = 500;

/**
 * Reads `command` and `parameters` of INTERFACE.md 4.9. `/ip/address/print`, `/ip address print` and
 * `ip address print` are the same command.
 * @throws AppError `invalid` naming the field and the reason
 */
export function parseCommand(command: string, parameters: string): ApiCommand {
  const segments = command.trim().split(/[\s/]+/).filter(Boolean);
  if (segments.length === 0) throw invalidField('command', 'must name a command, for example /ip/address/print');
  for (const segment of segments) {
    if (!SEGMENT.test(segment)) {
      throw invalidField('command', `"${segment.slice(0, 50)}" is not part of a command path; values belong in parameters`);
    }
  }
  const words = parseParameters(parameters);
  if (words.length > MAX_WORDS) throw invalidField('parameters', `more than ${MAX_WORDS} words`);
  const result = { path: `/${segments.join('/')}`, words };
  refuseUnsafe(result);
  return result;
}

/** API words one per line, a JSON array of them, or console style. */
function parseParameters(parameters: string): string[] {
  const text = parameters.trim();
  if (text === '') return [];
  if (text.includes('\0')) throw invalidField('parameters', 'must not contain NUL characters');
  if (text.startsWith('[')) return parseJsonWords(text).map(toApiWord);
  const lines = text.split(/\r?\n/).map((line) => line.trim()).filter(Boolean);
  if (lines.some((line) => line.startsWith('=') || line.startsWith('?'))) return lines.map(toApiWord);
  return toQueryWords(splitConsoleWords(text));
}

function parseJsonWords(text: string): string[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalidField('parameters', 'starts with "[" but is not a JSON array of words; console expressions like [find …] cannot be used here');
  }
  if (!Array.isArray(value) || !value.every((word) => typeof word === 'string')) {
    throw invalidField('parameters', 'the JSON array must contain only strings');
  }
  return value;
}

/** Accepts `.proplist=…` and `.id=…` without the leading `=` that the API needs; refuses what would confuse the session. */
function toApiWord(word: string): string {
  if (word.includes('\0')) throw invalidField('parameters', 'must not contain NUL characters');
  const full = /^\.(?:proplist|id)=/.test(word) ? `=${word}` : word;
  if (/^=?\.tag\b/.test(full)) throw invalidField('parameters', '.tag is used by the service itself');
  if (full.startsWith('?')) return full;
  if (/^=[^=]+=/s.test(full)) return full;
  if (/^=[^=]+$/s.test(full)) return `${full}=`;
  throw invalidField('parameters', `"${word.slice(0, 50)}" is no API word; write =name=value or ?name=value`);
}

/** Console words to API words: what follows `where` becomes a query, a name without value a flag. */
function toQueryWords(words: { name: string; value: string | undefined }[]): string[] {
  const where = words.findIndex((word) => word.name === 'where' && word.value === undefined);
  return words.flatMap((word, index) => {
    if (index === where) return [];
    const { name, value } = word;
    if (where >= 0 && index > where) return [value === undefined ? `?${name}` : `?${name}=${value}`];
    if (name === '.tag') throw invalidField('parameters', '.tag is used by the service itself');
    return [`=${name}=${value ?? ''}`];
  });
}

const SESSION_COMMANDS = new Set(['/login', '/quit', '/cancel', '/logout']);
/** Menus' commands that run until stopped, unless one of these words bounds them. */
const ENDLESS: { last: RegExp; bounds: string[] }[] = [
  { last: /^listen$/, bounds: [] },
  { last: /^(?:monitor|monitor-traffic|profile|sniffer|torch|scan|spectral-scan|spectral-history|snooper|frequency-monitor|align|watch|blink)$/, bounds: ['once', 'duration'] },
  { last: /^(?:ping|arp-ping|ping-speed|flood-ping)$/, bounds: ['count', 'duration'] },
  { last: /^(?:traceroute|bandwidth-test|speed-test|mac-scan|ip-scan|wol-scan|netwatch)$/, bounds: ['count', 'duration', 'test-duration'] },
];

/** The agent's session is shared: nothing may end it or hold a place in it for ever. */
function refuseUnsafe(command: ApiCommand): void {
  if (SESSION_COMMANDS.has(command.path)) {
    throw invalidField('command', `${command.path} belongs to the session, which the agent manages`);
  }
  const names = new Set(command.words.map((word) => /^=([^=]+)=/s.exec(word)?.[1]).filter((name) => name !== undefined));
  if (names.has('follow') || names.has('follow-only')) {
    throw invalidField('parameters', 'follow never ends; leave it out');
  }
  const last = command.path.slice(command.path.lastIndexOf('/') + 1);
  const rule = ENDLESS.find((candidate) => candidate.last.test(last));
  if (!rule || rule.bounds.some((bound) => names.has(bound))) return;
  const hint = rule.bounds.length === 0 ? 'use print instead' : `add ${rule.bounds.map((bound) => `"${bound}"`).join(' or ')}`;
  throw invalidField('command', `${last} never ends by itself; ${hint}`);
}
