import { isIP } from 'node:net';

/**
 * Validation of text that a router reports about itself and its neighbours, before it is stored or passed on. Host names come from
 * DHCP clients and are not trustworthy. Agents clean what they read, and the control plane cleans what agents report, with the
 * same functions. Pure.
 */

/** NUL, which databases reject, other control characters, and those that change the direction of the text beside them. */
const UNWANTED = /[\p{Cc}\u202A-\u202E\u2066-\u2069]/gu;

/** One line of text without control characters or broken surrogates, at most `max` UTF-16 units long. */
export function cleanText(text: string, max: number): string {
  // Cut long text first, so that the rest costs nothing.
  const whole = text
    .slice(0, max * 2)
    .toWellFormed()
    .replace(UNWANTED, '');
  return whole.length <= max ? whole : whole.slice(0, max).replace(/[\uD800-\uDBFF]$/, '');
}

/** For names that identify something: a cleaned name would be a different one, so an invalid name is refused instead. */
export function isOneLine(text: string): boolean {
  return cleanText(text, text.length) === text;
}

export const ONE_LINE = 'must be one line of text without control characters';

/** Characters of serial numbers, software ids and system ids. Two spaces in a row look like one on most pages. */
const DEVICE_ID = /^(?!.* {2})[\x20-\x7e]*$/;

/**
 * Why a text cannot identify a router; undefined when it can. Other characters are refused, not cleaned: `SERIAL1` with an invisible
 * space or a Cyrillic letter looks like another router's id.
 */
export function deviceIdProblem(name: string, id: string | null): string | undefined {
  if (id === null || DEVICE_ID.test(id)) return undefined;
  return `${name} "${escapeOthers(id)}" may hold printable ASCII characters only, and no two spaces in a row`;
}

function escapeOthers(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

const UNWANTED_IN_LINES = /[^\P{Cc}\n]|[\u202A-\u202E\u2066-\u2069]/gu;

/** {@link cleanText} for text of several lines, such as a router's error about a script. */
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

/** The name of an existing time zone. Undefined for anything else, including offsets, which have no daylight saving time. */
export function timeZoneFact(text: string): string | undefined {
  if (!/^[A-Za-z][A-Za-z0-9_+-]*(?:\/[A-Za-z0-9_+-]+)*$/.test(text) || text.length > 64) return undefined;
  try {
    void new Intl.DateTimeFormat('en', { timeZone: text });
    return text;
  } catch {
    return undefined;
  }
}

/** Largest plausible uptime, in seconds: a hundred years. */
const LONGEST_UPTIME = 100 * 365 * 86_400;

/** Seconds since a router's boot; undefined for impossible values. */
export function uptimeFact(seconds: number | undefined): number | undefined {
  return seconds !== undefined && seconds >= 0 && seconds <= LONGEST_UPTIME ? seconds : undefined;
}

/**
 * How many values differ between `raw` and the `cleaned` copy made from it. If items were left out of a list, only those are
 * counted, because the others can no longer be matched.
 */
export function countCleaned(raw: unknown, cleaned: unknown): number {
  if (Array.isArray(raw) && Array.isArray(cleaned)) {
    if (raw.length !== cleaned.length) return Math.abs(raw.length - cleaned.length);
    return raw.reduce<number>((sum, item, index) => sum + countCleaned(item, cleaned[index]), 0);
  }
  if (isObject(raw) && isObject(cleaned)) {
    // Members that the schema does not define are dropped on purpose.
    return Object.keys(raw).reduce((sum, key) => sum + (Object.hasOwn(cleaned, key) ? countCleaned(raw[key], cleaned[key]) : 0), 0);
  }
  return Object.is(raw, cleaned) ? 0 : 1;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
