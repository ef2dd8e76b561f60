import { isUtf8 } from 'node:buffer';

/** Text of a router, which need not be UTF-8, and its original bytes. */

const windows1252 = new TextDecoder('windows-1252');

/** Decodes UTF-8, otherwise Windows-1252: Winbox on Windows used to store comments in the PC's code page. */
export function decodeWireText(bytes: Buffer): string {
  const text = bytes.toString('utf8');
  return text.includes('\uFFFD') && !isUtf8(bytes) ? windows1252.decode(bytes) : text;
}

/**
 * The bytes that {@link decodeWireText} decoded, determined by their number. If the text has `length` characters but needs more
 * bytes in UTF-8, it was decoded as Windows-1252, in which every byte is one character.
 */
export function wireBytes(text: string, length: number): Buffer {
  const utf8 = Buffer.from(text, 'utf8');
  if (utf8.length === length || text.length !== length) return utf8;
  const codes = codesOfWindows1252();
  const bytes = Buffer.alloc(length);
  for (let at = 0; at < length; at += 1) {
    const code = codes.get(text.charCodeAt(at));
    if (code === undefined) return utf8;
    bytes[at] = code;
  }
  return bytes;
}

function codesOfWindows1252(): ReadonlyMap<number, number> {
  return new Map(Array.from({ length: 256 }, (_, byte) => [windows1252.decode(Uint8Array.of(byte)).charCodeAt(0), byte]));
}
