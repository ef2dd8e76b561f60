import { csvMistake, parseCsv } from './csv.ts';
import type { CsvRecord } from './csv.ts';
import { EXTRA_COLUMNS, TEXT_COLUMNS } from './types.ts';
import type { Product, TextColumn } from './types.ts';

/** A row of a file: only its non-empty cells. */
interface ProductRow {
  line: number;
  model: string;
  cells: Partial<Record<Column, string>>;
}

const COLUMNS = [...TEXT_COLUMNS, 'archived', ...EXTRA_COLUMNS] as const;
type Column = (typeof COLUMNS)[number];

const NO_TEXT = Object.fromEntries(TEXT_COLUMNS.map((column) => [column, null])) as Record<TextColumn, null>;

/**
 * Merges the products of several files in order. A row with a known model overrides the facts in its non-empty cells;
 * a row with a new model adds a product and needs a name.
 * @throws AppError `invalid` naming file, line and column of the first mistake
 */
export function readProducts(...files: { name: string; text: string }[]): Product[] {
  const products = new Map<string, Product>();
  for (const file of files) {
    for (const row of readRows(file.text, file.name)) {
      products.set(row.model, mergeRow(products.get(row.model), row, file.name));
    }
  }
  return [...products.values()];
}

function readRows(text: string, file: string): ProductRow[] {
  const [header, ...records] = parseCsv(text, file);
  if (!header) throw csvMistake(file, 1, undefined, 'the file is empty; the first line names the columns');
  const columns = readHeader(header, file);
  const rows = records.map((record) => readRow(record, columns, file));
  refuseRepeated(rows, file);
  return rows;
}

function readHeader({ line, cells }: CsvRecord, file: string): Column[] {
  const columns = cells.map((cell) => cell.trim());
  for (const [index, column] of columns.entries()) {
    if (!isColumn(column))
      throw csvMistake(file, line, column || String(index + 1), `is not a known column; known columns are ${COLUMNS.join(', ')}`);
    if (columns.indexOf(column) !== index) throw csvMistake(file, line, column, 'appears twice');
  }
  if (!columns.includes('model')) throw csvMistake(file, line, 'model', 'is missing; it identifies the product of each row');
  return columns.filter(isColumn);
}

function isColumn(name: string): name is Column {
  return (COLUMNS as readonly string[]).includes(name);
}

function readRow({ line, cells }: CsvRecord, columns: Column[], file: string): ProductRow {
  if (cells.length !== columns.length) {
    throw csvMistake(file, line, undefined, `has ${cells.length} cells, the first line names ${columns.length} columns`);
  }
  const filled: ProductRow['cells'] = {};
  for (const [index, column] of columns.entries()) {
    const value = cells[index]!.trim();
    if (value !== '') filled[column] = value;
  }
  if (filled.model === undefined) throw csvMistake(file, line, 'model', 'is empty');
  if (filled.archived !== undefined && !/^(true|false)$/.test(filled.archived)) {
    throw csvMistake(file, line, 'archived', `is "${filled.archived}"; it must be true or false`);
  }
  return { line, model: filled.model, cells: filled };
}

function refuseRepeated(rows: ProductRow[], file: string): void {
  const lines = new Map<string, number>();
  for (const { model, line } of rows) {
    const earlier = lines.get(model);
    if (earlier !== undefined) throw csvMistake(file, line, 'model', `${model} is already on line ${earlier}`);
    lines.set(model, line);
  }
}

function mergeRow(known: Product | undefined, { line, model, cells }: ProductRow, file: string): Product {
  const name = cells.name ?? known?.name;
  if (name === undefined) throw csvMistake(file, line, 'name', `is empty, and ${model} is a new product`);
  const { archived, board_name: boardName, product_code: _code, released: _released, discontinued: _gone, ...texts } = cells;
  return {
    ...NO_TEXT,
    ...known,
    ...texts,
    name,
    model,
    archived: archived === undefined ? (known?.archived ?? false) : archived === 'true',
    boardName: boardName ?? known?.boardName ?? null,
  };
}
