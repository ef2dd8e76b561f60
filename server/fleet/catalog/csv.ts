import { AppError } from '../../platform/core/errors.ts';

/** One record and the line where it begins, for error messages. */
export interface CsvRecord {
  /** Line of the file, from 1. */
  line: number;
  cells: string[];
}

/** A mistake in an operator's file. @param column heading of the cell with the mistake, if it is in one cell */
export function csvMistake(file: string, line: number, column: string | undefined, reason: string): AppError {
  return new AppError('invalid', `${file}: line ${line}${column === undefined ? '' : `, column ${column}`}: ${reason}`);
}

/** An unquoted cell: up to the next comma, quote or line end. */
const PLAIN = /[^",\r\n]*/y;
const QUOTED = /"((?:[^"]|"")*)"/y;
const LINE_END = /\r\n|\n|\r/y;

/** Reads comma-separated values (RFC 4180): quoted cells may hold commas, line ends and doubled quotes. */
export function parseCsv(text: string, file: string): CsvRecord[] {
  return new CsvReader(text.replace(/^\uFEFF/, ''), file).readAll();
}

class CsvReader {
  readonly #text: string;
  readonly #file: string;
  #at = 0;
  #line = 1;

  constructor(text: string, file: string) {
    this.#text = text;
    this.#file = file;
  }

  readAll(): CsvRecord[] {
    const records: CsvRecord[] = [];
    while (this.#at < this.#text.length) {
      const record = this.#readRecord();
      // Skip empty lines.
      if (record.cells.length > 1 || record.cells[0] !== '') records.push(record);
    }
    return records;
  }

  #readRecord(): CsvRecord {
    const line = this.#line;
    const cells = [this.#readCell(1)];
    while (this.#take(/,/y)) cells.push(this.#readCell(cells.length + 1));
    const end = this.#take(LINE_END);
    if (end) this.#line += 1;
    else if (this.#at < this.#text.length) {
      throw csvMistake(
        this.#file,
        this.#line,
        String(cells.length),
        'unexpected quote; quote the whole cell and double the quotes inside it',
      );
    }
    return { line, cells };
  }

  #readCell(number: number): string {
    if (this.#text[this.#at] !== '"') return this.#take(PLAIN)?.[0] ?? '';
    const quoted = this.#take(QUOTED);
    if (!quoted) throw csvMistake(this.#file, this.#line, String(number), 'the quoted cell has no closing quote');
    const cell = quoted[1]!;
    this.#line += cell.match(/\r\n|\n|\r/g)?.length ?? 0;
    return cell.replaceAll('""', '"');
  }

  #take(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#text);
    if (match) this.#at += match[0].length;
    return match;
  }
}
