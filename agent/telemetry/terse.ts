import { recordLine } from '../../routeros-text/values.ts';
import type { RouterRow } from '../routers/adapter.ts';

/** Flag letters of a menu's `print terse` and the properties they stand for. */
export type Flags = Readonly<Record<string, string>>;

/**
 * Rows of `print terse`: number, flag letters, then `name=value` pairs. Ignores other lines, such as log messages that a router
 * writes into the session. Flags become properties, as over the API.
 */
export function parseTerse(text: string, flags: Flags): RouterRow[] {
  const rows: RouterRow[] = [];
  for (const line of text.split('\n')) {
    const match = /^\s*\d+ +((?:[A-Zdg*]+ +)*)(?=[a-z.][\w.-]*=)(.*)$/i.exec(line);
    if (match) rows.push({ ...readFlags(match[1]!, flags), ...readPairs(match[2]!) });
  }
  return rows;
}

function readFlags(letters: string, flags: Flags): RouterRow {
  return Object.fromEntries(Object.entries(flags).map(([letter, property]) => [property, String(letters.includes(letter))]));
}

/** A value ends at the next ` name=`: terse output does not always quote spaces. */
function readPairs(text: string): RouterRow {
  const row: RouterRow = {};
  for (const pair of text.trimEnd().split(/ (?=[a-z.][\w.-]*=)/i)) {
    const at = pair.indexOf('=');
    row[pair.slice(0, at)] = pair
      .slice(at + 1)
      .trim()
      .replace(/^"(.*)"$/s, '$1');
  }
  return row;
}

/** The record of `print` in a menu with a single record: `name: value` lines. */
export function parseRecord(text: string): RouterRow {
  const row: RouterRow = {};
  for (const line of text.split('\n')) {
    const [name, value] = recordLine(line) ?? [];
    if (name !== undefined && value !== undefined) row[name] = value;
  }
  return row;
}
