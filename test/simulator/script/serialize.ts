/** `:serialize`, `:deserialize` and `:convert`. */
import { createHash } from 'node:crypto';
import { fromJson, toJson } from './conversions.ts';
import { ValueFailure } from './errors.ts';
import { parseLiteral } from './literals.ts';
import { entriesOf, list, num, str, toText, type Entry, type Value } from './values.ts';

/** @param options words of `options=`, such as `json.pretty` or `json.no-string-conversion` */
export function serialize(value: Value, format: string, options: readonly string[], delimiter: string): string {
  if (format === 'json') return JSON.stringify(toJson(value), undefined, options.includes('json.pretty') ? 4 : undefined);
  if (format !== 'dsv') throw new ValueFailure('invalid value for argument to');
  return entriesOf(value)
    .map((row) =>
      entriesOf(row.value)
        .map((cell) => toText(cell.value))
        .join(delimiter),
    )
    .join('\n');
}

export function deserialize(text: string, format: string, options: readonly string[], delimiter: string): Value {
  if (format === 'json') return parseJson(text);
  if (format !== 'dsv') throw new ValueFailure('invalid value for argument from');
  const rows = text
    .replaceAll('\r', '')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.split(delimiter));
  if (!options.includes('dsv.array')) return list(rows.map((cells) => list(cells.map(parseLiteral))));
  const [names = [], ...rest] = rows;
  const entry = (cell: string, index: number): Entry => ({ key: names[index] ?? String(index), value: parseLiteral(cell) });
  return list(rest.map((cells): Value => ({ type: 'array', entries: cells.map(entry) })));
}

function parseJson(text: string): Value {
  try {
    return fromJson(JSON.parse(text));
  } catch (error) {
    if (error instanceof SyntaxError) throw new ValueFailure('failed to parse JSON');
    throw error;
  }
}

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

const READERS: Readonly<Record<string, (value: Value) => Buffer>> = {
  raw: (value) => Buffer.from(toText(value)),
  hex: (value) => Buffer.from(toText(value), 'hex'),
  base64: (value) => Buffer.from(toText(value), 'base64'),
  base32: (value) => fromBase32(toText(value)),
  url: (value) => fromUrl(toText(value)),
  'byte-array': (value) => Buffer.from(entriesOf(value).map((entry) => Number(toText(entry.value)))),
  num: (value) => fromNumber(toText(value)),
};

const WRITERS: Readonly<Record<string, (bytes: Buffer) => Value>> = {
  raw: (bytes) => str(bytes.toString()),
  hex: (bytes) => str(bytes.toString('hex')),
  base64: (bytes) => str(bytes.toString('base64')),
  base32: (bytes) => str(toBase32(bytes)),
  url: (bytes) => str([...bytes].map(urlByte).join('')),
  'byte-array': (bytes) => list([...bytes].map(num)),
  num: (bytes) => num(BigInt(`0x${bytes.toString('hex') || '0'}`)),
};

const TRANSFORMS: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  none: (bytes) => bytes,
  lc: (bytes) => Buffer.from(bytes.toString().toLowerCase()),
  uc: (bytes) => Buffer.from(bytes.toString().toUpperCase()),
  reverse: (bytes) => Buffer.from(bytes).reverse(),
  md5: (bytes) => Buffer.from(createHash('md5').update(bytes).digest('hex')),
  rot13: (bytes) => Buffer.from(bytes.toString().replace(/[a-z]/gi, halfAlphabetOn)),
};

function halfAlphabetOn(letter: string): string {
  return String.fromCharCode(letter.charCodeAt(0) + (letter.toLowerCase() < 'n' ? 13 : -13));
}

/** `:convert`; the names not given are raw and none. */
export function convert(value: Value, from: string, to: string, transform: string): Value {
  const [read, change, write] = [READERS[from || 'raw'], TRANSFORMS[transform || 'none'], WRITERS[to || 'raw']];
  if (!read) throw new ValueFailure('input does not match any value of from');
  if (!write) throw new ValueFailure('input does not match any value of to');
  if (!change) throw new ValueFailure('input does not match any value of transform');
  return write(change(read(value)));
}

function fromNumber(text: string): Buffer {
  if (!/^\d{1,19}$/.test(text)) throw new ValueFailure('invalid value for argument value');
  const hex = BigInt(text).toString(16);
  return Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex');
}

function urlByte(byte: number): string {
  const letter = String.fromCharCode(byte);
  return /[\w.~-]/.test(letter) ? letter : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
}

function fromUrl(text: string): Buffer {
  return Buffer.from(
    text.replace(/%([0-9A-F]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  );
}

function toBase32(bytes: Buffer): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  const letters = (bits.match(/.{1,5}/g) ?? []).map((five) => BASE32[Number.parseInt(five.padEnd(5, '0'), 2)]).join('');
  return letters.padEnd(Math.ceil(letters.length / 8) * 8, '=');
}

function fromBase32(text: string): Buffer {
  const letters = text.replaceAll('=', '').toUpperCase().split('');
  const bits = letters.map((letter) => Math.max(0, BASE32.indexOf(letter)).toString(2).padStart(5, '0')).join('');
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((eight) => Number.parseInt(eight, 2)));
}
