import { invalidField } from '../../platform/core/errors.ts';

/** One console word: `address=10.0.0.1/30`, or `detail` without a value. */
export interface ConsoleWord {
  name: string;
  value: string | undefined;
}

/** RouterOS string escapes; any other character after a backslash must be two hex digits. */
const ESCAPES: Record<string, string> = {
  '"': '"',
  '\\': '\\',
  n: '\n',
  r: '\r',
  t: '\t',
  $: '$',
  '?': '?',
  _: ' ',
  a: '\x07',
  b: '\b',
  f: '\f',
  v: '\v',
};

/**
 * Splits console-style parameters with RouterOS quoting: `comment="up \"link\"" disabled=no`. Expressions (`[find …]`, `$variable`, `;`,
 * `{…}`) need the router's own console; they are rejected instead of misread.
 * @throws AppError `invalid` naming `parameters`
 */
export function splitConsoleWords(text: string): ConsoleWord[] {
  const words: ConsoleWord[] = [];
  const reader = new Reader(text);
  for (;;) {
    reader.skipSpace();
    if (reader.ended) return words;
    words.push(readWord(reader));
  }
}

function readWord(reader: Reader): ConsoleWord {
  const name = reader.takeWhile(/[^\s="]/);
  if (name === '') throw invalidField('parameters', `a name is missing before position ${reader.position + 1}`);
  refuseExpression(name);
  if (!reader.takeIf('=')) return { name, value: undefined };
  return { name, value: reader.peek === '"' ? readQuoted(reader) : readBare(reader) };
}

function readBare(reader: Reader): string {
  const value = reader.takeWhile(/[^\s"]/);
  refuseExpression(value);
  if (reader.peek === '"') throw invalidField('parameters', `a quote stands inside the word ${value.slice(0, 50)}; quote the whole value`);
  return value;
}

function readQuoted(reader: Reader): string {
  reader.takeIf('"');
  // As bytes, because one UTF-8 character may be written as several hex escapes.
  const value: Buffer[] = [];
  for (;;) {
    value.push(Buffer.from(reader.takeWhile(/[^"\\]/), 'utf8'));
    if (reader.takeIf('"')) break;
    if (reader.ended) throw invalidField('parameters', 'a quoted value is not closed');
    reader.takeIf('\\');
    value.push(readEscape(reader));
  }
  if (!reader.ended && !/\s/.test(reader.peek)) {
    throw invalidField('parameters', `a space is missing after the quoted value at position ${reader.position + 1}`);
  }
  return Buffer.concat(value).toString('utf8');
}

function readEscape(reader: Reader): Buffer {
  const simple = ESCAPES[reader.peek];
  if (simple !== undefined) {
    reader.take(1);
    return Buffer.from(simple);
  }
  const hex = reader.take(2);
  if (!/^[0-9A-F]{2}$/.test(hex) || hex === '00') throw invalidField('parameters', `\\${hex} is no RouterOS escape`);
  return Buffer.from(hex, 'hex');
}

function refuseExpression(word: string): void {
  const sign = /^\[|^\$|^\{|;/.exec(word)?.[0];
  if (sign !== undefined) {
    throw invalidField(
      'parameters',
      `"${word.slice(0, 50)}": expressions with ${sign} are not evaluated here; quote the value, or send a script as a job`,
    );
  }
}

class Reader {
  position = 0;
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  get ended(): boolean {
    return this.position >= this.#text.length;
  }

  /** The next character, '' at the end. */
  get peek(): string {
    return this.#text[this.position] ?? '';
  }

  take(count: number): string {
    const taken = this.#text.slice(this.position, this.position + count);
    this.position += taken.length;
    return taken;
  }

  takeIf(character: string): boolean {
    if (this.peek !== character) return false;
    this.position += 1;
    return true;
  }

  takeWhile(allowed: RegExp): string {
    const start = this.position;
    while (!this.ended && allowed.test(this.peek)) this.position += 1;
    return this.#text.slice(start, this.position);
  }

  skipSpace(): void {
    this.takeWhile(/\s/);
  }
}
