import * as z from 'zod';
import { countCleaned } from '../routeros-text/router-text.ts';
import { agentMessages, serverMessages } from './messages/index.ts';
import type { AgentMessage, ServerMessage } from './messages/index.ts';

/** Messages with text of routers. For these, `cleaned` counts the values that had to be cleaned. */
const FROM_ROUTERS: ReadonlySet<string> = new Set(['heartbeat', 'inventory', 'health', 'devices']);

/** Result of decoding one text message. Never thrown: the session decides what to do. */
export type Decoded<M> =
  | { kind: 'message'; message: M; cleaned?: number }
  /** A type that this version does not know: ignored and counted, so that newer peers can add messages. */
  | { kind: 'unknown'; type: string }
  /** Known type, invalid content. `id` names the request it belongs to, so that only that request ends. */
  | { kind: 'invalid'; type: string; id: number | undefined; reason: string }
  /** No message: the peer does not speak this protocol. */
  | { kind: 'garbage'; reason: string };

/** Errors reported for one invalid message. */
const MAX_REASONS = 3;

function decode<M>(schemas: Record<string, z.ZodType<M>>, data: string): Decoded<M> {
  if (hasTooManyStrings(data)) return { kind: 'garbage', reason: 'more names and values than any valid message' };
  let value: unknown;
  try {
    value = JSON.parse(data);
  } catch {
    return { kind: 'garbage', reason: 'not JSON' };
  }
  const type = member(value, 'type');
  if (typeof type !== 'string' || type === '' || type.length > 64) return { kind: 'garbage', reason: 'no message type' };
  const schema = Object.hasOwn(schemas, type) ? schemas[type] : undefined;
  if (!schema) return { kind: 'unknown', type };
  const parsed = schema.safeParse(value);
  if (parsed.success) {
    const cleaned = FROM_ROUTERS.has(type) ? countCleaned(value, parsed.data) : 0;
    return { kind: 'message', message: parsed.data, ...(cleaned > 0 ? { cleaned } : {}) };
  }
  const id = member(value, 'id');
  const reason = z.prettifyError({ issues: parsed.error.issues.slice(0, MAX_REASONS) }).slice(0, 1000);
  return { kind: 'invalid', type, id: Number.isSafeInteger(id) ? (id as number) : undefined, reason };
}

/** Shorter messages hold at most about 2,000 names, which is cheap to parse. */
const HARMLESS_CHARS = 16 * 1024;

/** Limit of names and values in one message: 2,000 ended jobs have 28,000. */
export const MAX_STRINGS = 40_000;

/**
 * Limit of different names in one message. Tables of routers have some hundred columns. Each new name costs `JSON.parse` more than
 * a microsecond, and as much again in later processing: one message with 39,000 names took up to 0.25 s.
 */
export const MAX_NAMES = 2000;

function hasTooManyStrings(data: string): boolean {
  if (data.length <= HARMLESS_CHARS) return false;
  const names = new Set<string>();
  let strings = 0;
  let begin: number | undefined;
  for (let at = data.indexOf('"'); at !== -1; at = data.indexOf('"', at + 1)) {
    if (begin === undefined) {
      begin = at + 1;
    } else if (!isEscaped(data, at)) {
      strings += 1;
      if (isName(data, at)) names.add(data.slice(begin, at));
      begin = undefined;
      if (strings > MAX_STRINGS || names.size > MAX_NAMES) return true;
    }
  }
  return false;
}

/** @param end position of the string's closing quote */
function isName(data: string, end: number): boolean {
  let at = end + 1;
  while (SPACES.has(data.charCodeAt(at))) at += 1;
  return data.charCodeAt(at) === COLON;
}

/** Whether the quote follows an odd number of backslashes. */
function isEscaped(data: string, at: number): boolean {
  let before = at;
  while (data.charCodeAt(before - 1) === BACKSLASH) before -= 1;
  return (at - before) % 2 === 1;
}

const BACKSLASH = 0x5c;
const COLON = 0x3a;
/** Space, tab, line feed and carriage return: JSON allows them between a name and its colon. */
const SPACES: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d]);

function member(value: unknown, name: 'type' | 'id'): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
}

/** Reads a message that an agent sent. */
export function decodeAgentMessage(data: string): Decoded<AgentMessage> {
  return decode<AgentMessage>(agentMessages, data);
}

/** Reads a message that a server sent. */
export function decodeServerMessage(data: string): Decoded<ServerMessage> {
  return decode<ServerMessage>(serverMessages, data);
}

export function encodeMessage(message: AgentMessage | ServerMessage): string {
  return JSON.stringify(message);
}
