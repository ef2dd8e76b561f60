import { isUtf8 } from 'node:buffer';

/** Words and sentences of the API protocol: a length prefix of one to five bytes, then that many bytes. */

/** Biggest length each prefix form can carry, exclusive, and the bits that mark the form. */
const FORMS: readonly (readonly [limit: number, bytes: number, mark: number])[] = [
  [0x80, 1, 0],
  [0x4000, 2, 0x80],
  [0x20_0000, 3, 0xc0],
  [0x1000_0000, 4, 0xe0],
  [0x1_0000_0000, 5, 0xf0],
];

export function encodeLength(length: number): Buffer {
  const form = FORMS.find(([limit]) => length < limit);
  if (!form || length < 0) throw new RangeError(`word length out of range: ${length}`);
  const [, bytes, mark] = form;
  const prefix = Buffer.alloc(bytes);
  prefix.writeUIntBE(length, bytes === 5 ? 1 : 0, Math.min(bytes, 4));
  prefix[0] = (prefix[0] ?? 0) | mark;
  return prefix;
}

/** How many bytes the prefix that starts with `first` has; 0 for a reserved control byte (0xF8 and above). */
export function prefixBytes(first: number): number {
  if (first < 0x80) return 1;
  if (first < 0xc0) return 2;
  if (first < 0xe0) return 3;
  if (first < 0xf0) return 4;
  return first < 0xf8 ? 5 : 0;
}

/** `prefix` has exactly prefixBytes(prefix[0]) bytes. */
export function decodeLength(prefix: Buffer): number {
  const first = prefix[0] ?? 0;
  if (prefix.length === 5) return prefix.readUInt32BE(1);
  const mark = [0, 0, 0x80, 0xc0, 0xe0][prefix.length] ?? 0;
  let length = first ^ mark;
  for (const byte of prefix.subarray(1)) length = length * 256 + byte;
  return length;
}

/** Stands for a byte that is no text, as a lone surrogate: 0x80 is U+DC80. */
const BYTE = 0xdc00;

/** Bytes as a text that {@link encodeSentence} turns into the same bytes again, whatever they are. */
export function textOfBytes(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString('utf8');
  return Array.from(bytes, (byte) => String.fromCharCode(byte < 0x80 ? byte : BYTE + byte)).join('');
}

/** The bytes of a word as they go over the wire. */
export function bytesOf(word: string): Buffer {
  if (word.isWellFormed()) return Buffer.from(word, 'utf8');
  return Buffer.from(Array.from({ length: word.length }, (_, at) => word.charCodeAt(at) & 0xff));
}

export function encodeSentence(words: readonly string[]): Buffer {
  const parts: Buffer[] = [];
  for (const word of words) {
    const bytes = bytesOf(word);
    parts.push(encodeLength(bytes.length), bytes);
  }
  parts.push(Buffer.from([0]));
  return Buffer.concat(parts);
}
