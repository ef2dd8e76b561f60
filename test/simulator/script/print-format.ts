import type { Row } from '../menu/types.ts';
import { isCounter, printShape, quotedProperties, units, type Flag, type PrintShape } from './print-shapes.ts';
import { isAtLeast } from './versions.ts';

/** A row and its number in the menu's list. */
export interface NumberedRow {
  readonly row: Row;
  readonly number: number;
}

export interface PrintOptions {
  readonly path: string;
  readonly version: string;
  readonly style: 'terse' | 'detail' | 'table';
  /** Show only these properties, in this order. */
  readonly proplist?: readonly string[] | undefined;
  /** Show counters (`stats`). */
  readonly stats?: boolean;
  /** Show `.id` (`show-ids`). */
  readonly ids?: boolean;
}

const crlf = '\r\n';
/** `2024-10-08 11:14:27`, `sep/25/2018 06:30:04`: the one blank that needs no quotes. */
const isDate = /^(?:\d{4}-\d\d-\d\d|[a-z]{3}\/\d\d\/\d{4}) \d\d:\d\d:\d\d$/;
/** Default width of a terminal. */
const terminalWidth = 80;

/** One record as a menu without items prints it: names right-aligned, a colon, the value. */
export function formatRecord(row: Row): string {
  const entries = [...row].filter(([name]) => name !== '.id' && name !== '.section');
  const width = Math.max(0, ...entries.map(([name]) => name.length)) + 2;
  return entries.map(([name, text]) => `${name.padStart(width)}: ${shownValue(name, text)}${crlf}`).join('');
}

/** A list of items in one of the console's forms. */
export function formatList(rows: readonly NumberedRow[], options: PrintOptions): string {
  if (options.path === '/log') return rows.map(({ row }) => logLine(row, options.style)).join('');
  const shape = printShape(options.path);
  if (rows.length === 0 && isAtLeast(options.version, '7')) return '';
  if (options.style === 'terse') return rows.map((row) => terseLine(row, shape, options)).join('');
  if (options.style === 'detail' || (shape.columns === undefined && isRuleMenu(options.path))) return formatDetail(rows, shape, options);
  return formatTable(rows, shape, options);
}

function isRuleMenu(path: string): boolean {
  return path.startsWith('/ip/firewall/') || path === '/system/script';
}

function logLine(row: Row, style: PrintOptions['style']): string {
  const [time, topics, message] = ['time', 'topics', 'message'].map((name) => row.get(name) ?? '');
  if (style === 'table') return ` ${time} ${topics} ${message}${crlf}`;
  const quote = style === 'detail' ? '"' : '';
  return ` time=${time} topics=${topics} message=${quote}${message}${quote}${crlf}${style === 'detail' ? crlf : ''}`;
}

function terseLine(item: NumberedRow, shape: PrintShape, options: PrintOptions): string {
  const words = shownEntries(item.row, shape, options).map(([name, text]) => `${name}=${terseValue(text)}`);
  const comment = item.row.get('comment');
  if (comment !== undefined && comment !== '') words.unshift(`comment=${comment}`);
  return `${prefix(item, shape)}${words.join(' ')}${crlf}`;
}

function terseValue(text: string): string {
  return text === '' ? '""' : yesNo(text);
}

function yesNo(text: string): string {
  if (text === 'true') return 'yes';
  return text === 'false' ? 'no' : text;
}

function shownValue(name: string, text: string): string {
  return units[name]?.(text) ?? yesNo(text);
}

function shownEntries(row: Row, shape: PrintShape, options: PrintOptions): [string, string][] {
  if (options.proplist !== undefined)
    return options.proplist.flatMap((name): [string, string][] => (row.has(name) ? [[name, row.get(name) ?? '']] : []));
  const hidden = new Set(['.id', 'comment', 'disabled', ...shape.flags.flat().map((flag) => flag.property)]);
  if (options.ids === true) hidden.delete('.id');
  return [...row].filter(([name]) => !hidden.has(name) && (options.stats === true || !isCounter(name)));
}

/** ` 0 XI `: the number, a letter per flag column, a space. */
function prefix(item: NumberedRow, shape: PrintShape): string {
  const letters = shape.flags.map((column) => flagLetter(item.row, column)).join('');
  return `${String(item.number).padStart(2)} ${letters} `;
}

function flagLetter(row: Row, column: readonly Flag[]): string {
  return column.find((flag) => row.get(flag.property) === 'true' || row.get(flag.property) === 'yes')?.letter ?? ' ';
}

function formatDetail(rows: readonly NumberedRow[], shape: PrintShape, options: PrintOptions): string {
  const items = rows.map((item) => detailItem(item, shape, options));
  return legend(shape, options.version, false, rows) + items.join(crlf);
}

function detailItem(item: NumberedRow, shape: PrintShape, options: PrintOptions): string {
  const start = prefix(item, shape);
  const words = shownEntries(item.row, shape, options).map(([name, text]) => `${name}=${detailValue(name, text)}`);
  const comment = item.row.get('comment');
  const indent = ' '.repeat(start.length);
  const lines = isAtLeast(options.version, '7') ? [words.join(' ')] : wrap(words, terminalWidth - start.length);
  if (comment !== undefined && comment !== '') lines.unshift(`;;; ${comment}`);
  return lines.map((line, index) => `${index === 0 ? start : indent}${line}${crlf}`).join('');
}

function detailValue(name: string, text: string): string {
  const isPlain = /^[^\s"]+$/.test(text) || isDate.test(text);
  if (!quotedProperties.has(name) && isPlain) return yesNo(text);
  return `"${text
    .replaceAll(/["\\$]/g, (character) => `\\${character}`)
    .replaceAll('\r', '\\r')
    .replaceAll('\n', '\\n')}"`;
}

function wrap(words: readonly string[], width: number): string[] {
  const lines: string[] = [];
  for (const word of words) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

function legend(shape: PrintShape, version: string, upper: boolean, rows: readonly NumberedRow[]): string {
  const modern = isAtLeast(version, '7');
  const columns = shape.flags.map((column) => column.filter((flag) => !upper || rows.some(({ row }) => flagLetter(row, [flag]) !== ' ')));
  const groups = columns
    .filter((column) => column.length > 0)
    .map((column) => column.map((flag) => `${flag.letter} - ${upper ? flag.property.toUpperCase() : flag.property}`).join(', '));
  return groups.length === 0 ? '' : `Flags: ${groups.join(modern ? '; ' : ', ')}${modern ? '' : ' '}${crlf}`;
}

function formatTable(rows: readonly NumberedRow[], shape: PrintShape, options: PrintOptions): string {
  const columns = tableColumns(rows, shape, options);
  const names = columns.map((name) => name.toUpperCase());
  const cells = rows.map(({ row }) => columns.map((name) => cell(row, name)));
  const widths = columns.map((name, column) => Math.max(name.length, ...cells.map((line) => line[column]?.length ?? 0)));
  const pad = (line: readonly string[]): string[] => line.map((text, column) => text.padEnd(widths[column] ?? 0));
  const table: Table = { rows, shape, names: pad(names), cells: cells.map(pad) };
  return (
    legend(shape, options.version, isAtLeast(options.version, '7'), rows) +
    (isAtLeast(options.version, '7') ? newTable(table) : oldTable(table))
  );
}

interface Table {
  readonly rows: readonly NumberedRow[];
  readonly shape: PrintShape;
  readonly names: readonly string[];
  readonly cells: readonly (readonly string[])[];
}

/** v7: a line with the columns, only the flags in use, comments on lines of their own. */
function newTable({ rows, shape, names, cells }: Table): string {
  const used = shape.flags.filter((column) => rows.some(({ row }) => flagLetter(row, column) !== ' '));
  const width = String(Math.max(0, ...rows.map((item) => item.number))).length;
  const start = (number: string, letters: string): string => `${number.padStart(width)} ${letters}${used.length === 0 ? '' : ' '}`;
  const head = `Columns: ${names.map((name) => name.trim()).join(', ')}${crlf}${start('#', ' '.repeat(used.length))}${names.join('  ')}${crlf}`;
  return (
    head +
    rows
      .map((item, index) => {
        const comment = item.row.get('comment');
        const letters = used.map((column) => flagLetter(item.row, column)).join('');
        const line = `${start(String(item.number), letters)}${cells[index]?.join('  ')}${crlf}`;
        return comment === undefined || comment === '' ? line : `;;; ${comment}${crlf}${line}`;
      })
      .join('')
  );
}

/** v6: all flags have their place, the number stands on the line of the comment if there is one. */
function oldTable({ rows, shape, names, cells }: Table): string {
  const head = ` # ${' '.repeat(shape.flags.length)} ${names.join(' ')}${crlf}`;
  return (
    head +
    rows
      .map((item, index) => {
        const comment = item.row.get('comment');
        const start = prefix(item, shape);
        const line = `${cells[index]?.join(' ')}${crlf}`;
        return comment === undefined || comment === ''
          ? `${start}${line}`
          : `${start};;; ${comment}${crlf}${' '.repeat(start.length)}${line}`;
      })
      .join('')
  );
}

function tableColumns(rows: readonly NumberedRow[], shape: PrintShape, options: PrintOptions): string[] {
  if (options.proplist !== undefined) return [...options.proplist];
  const present = new Set(rows.flatMap(({ row }) => shownEntries(row, shape, options).map(([name]) => name)));
  const columns = shape.columns?.filter((name) => present.has(name)) ?? [...present].slice(0, 6);
  return options.ids === true ? ['.id', ...columns] : columns;
}

function cell(row: Row, name: string): string {
  return shownValue(name, row.get(name) ?? '').replaceAll(/[\r\n]+/g, ' ');
}
