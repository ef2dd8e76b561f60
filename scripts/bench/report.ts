/** One row of the result: the measured ratio and its target. */
export interface Row {
  name: string;
  ratio: number;
  /** The target of the ratio; undefined without one. */
  bar: { at: 'least' | 'most'; value: number } | undefined;
  /** The measured values behind the ratio, for people. */
  detail: string;
}

export function passes({ ratio, bar }: Row): boolean {
  if (!bar) return true;
  return bar.at === 'least' ? ratio >= bar.value : ratio <= bar.value;
}

/** Aligns the rows in columns. */
export function formatTable(rows: readonly Row[]): string {
  const cells = rows.map((row) => [
    row.name,
    row.ratio.toFixed(2),
    row.bar ? `${row.bar.at === 'least' ? '>=' : '<='} ${row.bar.value.toFixed(2)}` : '',
    row.bar ? (passes(row) ? 'ok' : 'MISSED') : '',
    row.detail,
  ]);
  const table = [['measurement', 'ratio', 'bar', '', 'measured'], ...cells];
  const widths = table[0]!.map((_cell, column) => Math.max(...table.map((line) => line[column]!.length)));
  return table
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

export const megabytes = (bytesPerSecond: number): string => `${Math.round(bytesPerSecond / 1e6)} MB/s`;
export const milliseconds = (ms: number): string => `${ms.toFixed(3)} ms`;
