import { wrapText } from '../../runtime/help-rows.ts';
import { displayWidth, padToWidth, splitAtWidth } from './display-width.ts';

/** Output for people. */

/** Removes control characters: text from routers and people must not move the cursor or change the terminal. */
export function printable(value: unknown): string {
  if (value === null || value === undefined || value === '') return '-';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.replaceAll(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, ' ');
}

/** Several lines of text, such as a script's output, without characters that move the cursor. */
export function printableLines(text: string): string {
  return text
    .split(/\r?\n/)
    .map((line) => (line === '' ? '' : printable(line)))
    .join('\n');
}

/** With a number, a column is left out when a terminal is too narrow for all of them: the smallest number first. */
export type Column<T> = readonly [title: string, value: (row: T) => unknown, leaveOut?: number];

/**
 * A table with a title line; `none` when there is no row. On a terminal of less width, long texts wrap inside their column. If that is not enough, columns that may be left out are, and a last line names them. If even that is not enough, each
 * row becomes a block of lines.
 * @param width cells of a line; Infinity when the output is not a terminal
 */
export function table<T>(rows: readonly T[], columns: readonly Column<T>[], none: string, width: number): string {
  if (rows.length === 0) return `${none}\n`;
  const all = columns.map(([title, value, leaveOut]) => ({
    title,
    leaveOut,
    cells: [title, ...rows.map((row) => withoutMilliseconds(printable(value(row))))],
  }));
  const order = all.filter(({ leaveOut }) => leaveOut !== undefined).toSorted((a, b) => a.leaveOut! - b.leaveOut!);
  for (let count = 0; count <= order.length; count += 1) {
    const left = new Set(order.slice(0, count));
    const shown = all.filter((column) => !left.has(column));
    const widths = fittingWidths(
      shown.map(({ cells }) => cells),
      width,
    );
    if (widths === undefined) continue;
    const missing = all.filter((column) => left.has(column)).map(({ title }) => title);
    const note = missing.length === 0 ? '' : noteOf(missing, width);
    return all[0]!.cells.map((_title, index) => tableRow(shown, widths, index)).join('') + note;
  }
  return rows.map((_row, index) => record(all.map(({ title, cells }) => [title, cells[index + 1]] as const))).join('\n');
}

function noteOf(missing: readonly string[], width: number): string {
  return `\n${wrapText(`Too narrow for ${missing.join(', ')}: use a wider terminal, or --json.`, width).join('\n')}\n`;
}

/** `2031-05-01T12:00:00.123Z` without `.123`: it is noise for people, and JSON output has it. */
function withoutMilliseconds(text: string): string {
  return text.replace(/^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.\d{3}Z$/, '$1Z');
}

/** Two spaces stand between columns. */
const GAP = '  ';

/** Longer words may continue on the next line, such as the name of a router. Times and addresses stay whole. */
const LONGEST_WHOLE_WORD = 24;
/** Ids are copied from the screen, so they are never broken. */
const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Width of each column so that the table fits, or undefined when some words are too long for that. */
function fittingWidths(columns: readonly (readonly string[])[], width: number): number[] | undefined {
  const widths = columns.map((texts) => greatest(texts, displayWidth));
  let excess = totalWidth(widths) - width;
  if (excess <= 0) return widths;
  const narrowest = columns.map((texts) => greatest(texts, (text) => greatest(text.split(' '), narrowestWidth)));
  while (excess > 0) {
    const slack = widths.map((each, column) => each - narrowest[column]!);
    const loosest = slack.indexOf(Math.max(...slack));
    if (slack[loosest]! <= 0) return undefined;
    widths[loosest]! -= 1;
    excess -= 1;
  }
  return widths;
}

function narrowestWidth(word: string): number {
  const width = displayWidth(word);
  return ID.test(word) ? width : Math.min(width, LONGEST_WHOLE_WORD);
}

function totalWidth(widths: readonly number[]): number {
  return widths.reduce((sum, each) => sum + each + GAP.length, -GAP.length);
}

function greatest(texts: readonly string[], valueOf: (text: string) => number): number {
  return texts.reduce((most, text) => Math.max(most, valueOf(text)), 0);
}

function tableRow(columns: readonly { cells: readonly string[] }[], widths: readonly number[], index: number): string {
  const wrapped = columns.map(({ cells }, column) => {
    return wrapCell(cells[index]!, widths[column]!);
  });
  const height = Math.max(...wrapped.map((lines) => lines.length));
  const line = (number: number): string => wrapped.map((lines, column) => padToWidth(lines[number] ?? '', widths[column]!)).join(GAP);
  return Array.from({ length: height }, (_none, number) => `${line(number).trimEnd()}\n`).join('');
}

function wrapCell(text: string, width: number): string[] {
  if (displayWidth(text) <= width) return [text];
  return wrapText(text, width, displayWidth).flatMap((line) => splitAtWidth(line, width));
}

/** For the output of routers, when it goes to a program: the width of an ordinary terminal window. */
const DEFAULT_WIDTH = 120;

/** Rows whose columns are not known in advance: a table when it fits, else one block per row. */
export function rowsText(rows: readonly Readonly<Record<string, string>>[], width: number): string {
  if (rows.length === 0) return '(no rows)\n';
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const columns = names.map((name) => ({ cells: [name.toUpperCase(), ...rows.map((row) => printable(row[name]))] }));
  const widths = columns.map(({ cells }) => greatest(cells, displayWidth));
  if (rows.length > 1 && totalWidth(widths) <= (Number.isFinite(width) ? width : DEFAULT_WIDTH))
    return columns[0]!.cells.map((_title, index) => tableRow(columns, widths, index)).join('');
  return rows.map((row) => record(Object.entries(row))).join('\n');
}

/** One record, a line for each field. */
export function record(fields: readonly (readonly [string, unknown])[]): string {
  const nameWidth = greatest(
    fields.map(([name]) => name),
    displayWidth,
  );
  return fields.map(([name, value]) => `${padToWidth(name, nameWidth)}  ${printable(value)}\n`).join('');
}
