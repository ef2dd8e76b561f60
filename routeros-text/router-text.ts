import { isIP } from 'node:net';

/**
 * What a router says of itself and its neighbours, before anybody keeps it or passes it on. Host names come from whoever asks
 * for a lease, so nothing in them can be relied on. Agents clean what they read, and the control plane what agents tell it,
 * by the same functions. Pure.
 */

/** NUL, which no database takes, other control characters, and those that turn the direction of what stands beside them. */
const UNWANTED = /[\p{Cc}\u202A-\u202E\u2066-\u2069]/gu;

/** One line of text without control characters or broken surrogates, at most so many UTF-16 units long. */
export function cleanText(text: string, max: number): string {
  // Longer ones are cut first: what is thrown away need not be looked at.
  const whole = text
    .slice(0, max * 2)
    .toWellFormed()
    .replace(UNWANTED, '');
  return whole.length <= max ? whole : whole.slice(0, max).replace(/[\uD800-\uDBFF]$/, '');
}

/** What a name must be that somebody chose and that others go by: cleaned, it would be another one. */
export function isOneLine(text: string): boolean {
  return cleanText(text, text.length) === text;
}

export const ONE_LINE = 'must be one line of text without control characters';

/** What serial numbers, software ids and system ids are made of. Two spaces in a row look like one on most pages. */
const DEVICE_ID = /^(?!.* {2})[\x20-\x7e]*$/;

/**
 * Why a text cannot identify a router; undefined when it can. Other characters are refused, not cleaned: `SERIAL1` with an invisible
 * space or a Cyrillic letter looks like another router's id, and is none.
 */
export function deviceIdProblem(name: string, id: string | null): string | undefined {
  if (id === null || DEVICE_ID.test(id)) return undefined;
  return `${name} "${escapeOthers(id)}" may hold printable ASCII characters only, and no two spaces in a row`;
}

function escapeOthers(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

const UNWANTED_IN_LINES = /[^\P{Cc}\n]|[\u202A-\u202E\u2066-\u2069]/gu;

/** The same of a text that may have several lines, such as what a router says of a script that failed. */
export function cleanLines(text: string, max: number): string {
  const whole = text
    .slice(0, max * 2)
    .toWellFormed()
    .replaceAll('\r\n', '\n')
    .replace(UNWANTED_IN_LINES, '');
  return whole.length <= max ? whole : whole.slice(0, max).replace(/[\uD800-\uDBFF]$/, '');
}

/** An IP address in text form; undefined for anything else, such as the name of an address pool. */
export function ipAddressFact(text: string): string | undefined {
  return text.length <= 64 && isIP(text) !== 0 ? text : undefined;
}

/** The name of a time zone that exists; undefined for anything else, offsets among it: they know no summer. */
export function timeZoneFact(text: string): string | undefined {
  if (!/^[A-Za-z][A-Za-z0-9_+-]*(?:\/[A-Za-z0-9_+-]+)*$/.test(text) || text.length > 64) return undefined;
  try {
    void new Intl.DateTimeFormat('en', { timeZone: text });
    return text;
  } catch {
    return undefined;
  }
}

/** No router runs longer, in seconds: a hundred years. */
const LONGEST_UPTIME = 100 * 365 * 86_400;

/** Seconds since a router's boot; undefined for what cannot be. */
export function uptimeFact(seconds: number | undefined): number | undefined {
  return seconds !== undefined && seconds >= 0 && seconds <= LONGEST_UPTIME ? seconds : undefined;
}

/**
 * How many values are others in `cleaned` than in `raw`, of which it was made. An item that was left out of a list counts as
 * one, and then nobody can tell which of the others belong together.
 */
export function countCleaned(raw: unknown, cleaned: unknown): number {
  if (Array.isArray(raw) && Array.isArray(cleaned)) {
    if (raw.length !== cleaned.length) return Math.abs(raw.length - cleaned.length);
    return raw.reduce<number>((sum, item, index) => sum + countCleaned(item, cleaned[index]), 0);
  }
  if (isObject(raw) && isObject(cleaned)) {
    // Members that the schema does not know are left out on purpose.
    return Object.keys(raw).reduce((sum, key) => sum + (Object.hasOwn(cleaned, key) ? countCleaned(raw[key], cleaned[key]) : 0), 0);
  }
  return Object.is(raw, cleaned) ? 0 : 1;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
