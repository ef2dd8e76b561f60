import type { Row } from '../menu/types.ts';
import { printShape, quotedProperties, units, type Flag, type PrintShape } from './print-shapes.ts';
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
  /** Show `.id` (`show-ids`). */
  readonly ids?: boolean;
}

const crlf = '\r\n';
/** Width of a terminal nobody has told otherwise. */
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
  if (options.style === 'terse') return rows.map((row) => terseLine(row, shape, options)).join('');
  if (options.style === 'detail' || shape.columns === undefined && isRuleMenu(options.path)) return formatDetail(rows, shape, options);
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
  if (options.proplist !== undefined) return options.proplist.flatMap((name): [string, string][] => (row.has(name) ? [[name, row.get(name) ?? '']] : []));
  const hidden = new Set(['.id', 'comment', 'disabled', ...shape.flags.flat().map((flag) => flag.property)]);
  if (options.ids === true) hidden.delete('.id');
  return [...row].filter(([name]) => !hidden.has(name));
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
  if (!quotedProperties.has(name) && text !== '' && !/[\s"]/.test(text)) return yesNo(text);
  return `"${text.replaceAll(/["\\$]/g, (character) => `\\${character}`).replaceAll('\r', '\\r').replaceAll('\n', '\\n')}"`;
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
  const groups = columns.filter((column) => column.length > 0)
    .map((column) => column.map((flag) => `${flag.letter} - ${upper ? flag.property.toUpperCase() : flag.property}`).join(', '));
  return groups.length === 0 ? '' : `Flags: ${groups.join(modern ? '; ' : ', ')}${modern ? '' : ' '}${crlf}`;
}

function formatTable(rows: readonly NumberedRow[], shape: PrintShape, options: PrintOptions): string {
  const modern = isAtLeast(options.version, '7');
  const columns = tableColumns(rows, shape, options);
  const widths = columns.map((name) => Math.max(name.length, ...rows.map(({ row }) => cell(row, name).length)));
  const line = (start: string, cells: readonly string[]): string =>
    `${start}${cells.map((text, index) => text.padEnd(widths[index] ?? 0)).join(modern ? '  ' : ' ')}${crlf}`;
  const gutter = ' '.repeat(shape.flags.length + 2);
  const heading = line(` #${gutter}`, columns.map((name) => name.toUpperCase()));
  const names = modern ? `Columns: ${columns.map((name) => name.toUpperCase()).join(', ')}${crlf}` : '';
  const body = rows.map((item) => commentLine(item, shape, modern) + line(commentless(item, shape, modern), columns.map((name) => cell(item.row, name))));
  return legend(shape, options.version, modern, rows) + names + heading + body.join('');
}

/** v6 puts the number on the line of the comment, v7 on the line of the values. */
function commentLine(item: NumberedRow, shape: PrintShape, modern: boolean): string {
  const comment = item.row.get('comment');
  if (comment === undefined || comment === '') return '';
  return modern ? `;;; ${comment}${crlf}` : `${prefix(item, shape)};;; ${comment}${crlf}`;
}

function commentless(item: NumberedRow, shape: PrintShape, modern: boolean): string {
  const start = prefix(item, shape);
  return !modern && commentLine(item, shape, modern) !== '' ? ' '.repeat(start.length) : start;
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
