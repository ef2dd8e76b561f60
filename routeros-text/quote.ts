/**
 * Text as strings of the RouterOS console language. `"` would end the string, `$` would name a variable, `\` begins an escape, `?` asks
 * for help in a terminal, and a line break would end the line. Their bytes are written in hexadecimal, which RouterOS 6 and 7
 * read the same way. Pure.
 */

/** Always one line, because SSH exec takes exactly one. All other characters stay unchanged, in UTF-8. */
export function quote(text: string): string {
  return `"${text.replace(/["\\$?]|\p{Cc}/gu, hexBytes)}"`;
}

/** Printable ASCII only, for lines that a person pastes into a terminal: its handling of other characters depends on its settings. */
export function quoteAscii(text: string): string {
  return `"${text.replace(/[^\w .:,/@=+*#'(){}[\]<>~&%!;|^-]/gu, hexBytes)}"`;
}

function hexBytes(character: string): string {
  return Array.from(Buffer.from(character), (byte) => `\\${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');
}
