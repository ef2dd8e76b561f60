import { wrapText } from '../../runtime/help-rows.ts';

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

export type Column<T> = readonly [title: string, value: (row: T) => unknown];

/**
 * A table with a title line; `none` when there is no row. On a terminal of less width, texts of several words wrap inside
 * their column. If that is not enough, each row becomes a block of lines.
 * @param width characters of a line; Infinity when the output is not a terminal
 */
export function table<T>(rows: readonly T[], columns: readonly Column<T>[], none: string, width: number): string {
  if (rows.length === 0) return `${none}\n`;
  const titles = columns.map(([title]) => title);
  const cells = rows.map((row) => columns.map(([, value]) => withoutMilliseconds(printable(value(row)))));
  const widths = fittingWidths([titles, ...cells], width);
  if (widths !== undefined) return [titles, ...cells].map((row) => tableRow(row, widths)).join('');
  return cells.map((row) => record(titles.map((title, index) => [title, row[index]] as const))).join('\n');
}

/** `2031-05-01T12:00:00.123Z` without `.123`: nobody reads it, and JSON output has it. */
function withoutMilliseconds(text: string): string {
  return text.replace(/^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.\d{3}Z$/, '$1Z');
}

/** Two spaces stand between columns. */
const GAP = '  ';

/** Width of each column so that the table fits, or undefined when some words are too long for that. */
function fittingWidths(cells: readonly (readonly string[])[], width: number): number[] | undefined {
  const columns = cells[0]!.map((_cell, column) => cells.map((row) => row[column]!));
  const widths = columns.map((texts) => Math.max(...texts.map((text) => text.length)));
  const narrowest = columns.map((texts) => Math.max(...texts.flatMap((text) => text.split(' ').map((word) => word.length))));
  let excess = widths.reduce((sum, each) => sum + each + GAP.length, -GAP.length) - width;
  while (excess > 0) {
    const slack = widths.map((each, column) => each - narrowest[column]!);
    const loosest = slack.indexOf(Math.max(...slack));
    if (slack[loosest]! <= 0) return undefined;
    widths[loosest]! -= 1;
    excess -= 1;
  }
  return widths;
}

function tableRow(row: readonly string[], widths: readonly number[]): string {
  const wrapped = row.map((text, column) => (text.length <= widths[column]! ? [text] : wrapText(text, widths[column]!)));
  const height = Math.max(...wrapped.map((lines) => lines.length));
  const line = (index: number): string => wrapped.map((lines, column) => (lines[index] ?? '').padEnd(widths[column]!)).join(GAP);
  return Array.from({ length: height }, (_none, index) => `${line(index).trimEnd()}\n`).join('');
}

/** For the output of routers, when it goes to a program: the width of an ordinary terminal window. */
const DEFAULT_WIDTH = 120;

/** Rows whose columns are not known in advance: a table when it fits, else one block per row. */
export function rowsText(rows: readonly Readonly<Record<string, string>>[], width: number): string {
  if (rows.length === 0) return '(no rows)\n';
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const cells = [names.map((name) => name.toUpperCase()), ...rows.map((row) => names.map((name) => printable(row[name])))];
  const widths = names.map((_name, column) => Math.max(...cells.map((row) => row[column]!.length)));
  const total = widths.reduce((sum, each) => sum + each + GAP.length, -GAP.length);
  if (rows.length > 1 && total <= (Number.isFinite(width) ? width : DEFAULT_WIDTH))
    return cells.map((row) => tableRow(row, widths)).join('');
  return rows.map((row) => record(Object.entries(row))).join('\n');
}

/** One record, a line for each field. */
export function record(fields: readonly (readonly [string, unknown])[]): string {
  const nameWidth = Math.max(...fields.map(([name]) => name.length));
  return fields.map(([name, value]) => `${name.padEnd(nameWidth)}  ${printable(value)}\n`).join('');
}
