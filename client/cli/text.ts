/** Rows for people. */

/** What routers and people wrote may hold characters that move the cursor or change the terminal. */
export function printable(value: unknown): string {
  if (value === null || value === undefined || value === '') return '-';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.replaceAll(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, ' ');
}

/** Several lines of text, like a script's output, without anything that moves the cursor. */
export function printableLines(text: string): string {
  return text
    .split(/\r?\n/)
    .map((line) => (line === '' ? '' : printable(line)))
    .join('\n');
}

export type Column<T> = readonly [title: string, value: (row: T) => unknown];

/** A table with a title line; `none` when there is no row. */
export function table<T>(rows: readonly T[], columns: readonly Column<T>[], none: string): string {
  if (rows.length === 0) return `${none}\n`;
  const cells = [columns.map(([title]) => title), ...rows.map((row) => columns.map(([, value]) => printable(value(row))))];
  return lines(cells);
}

/** Rows whose columns are not known beforehand: a table when it fits, else one block for each row. */
export function rowsText(rows: readonly Readonly<Record<string, string>>[], width: number): string {
  if (rows.length === 0) return '(no rows)\n';
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const asTable = table(
    rows,
    names.map((name) => [name.toUpperCase(), (row) => row[name]]),
    '',
  );
  if (rows.length > 1 && asTable.split('\n').every((line) => line.length <= width)) return asTable;
  return rows.map((row) => record(Object.entries(row))).join('\n');
}

/** One record, a line for each field. */
export function record(fields: readonly (readonly [string, unknown])[]): string {
  const wide = Math.max(...fields.map(([name]) => name.length));
  return fields.map(([name, value]) => `${name.padEnd(wide)}  ${printable(value)}\n`).join('');
}

function lines(cells: readonly (readonly string[])[]): string {
  const widths = cells[0]!.map((_cell, column) => Math.max(...cells.map((row) => row[column]!.length)));
  return cells
    .map(
      (row) =>
        `${row
          .map((cell, column) => cell.padEnd(widths[column]!))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
}
