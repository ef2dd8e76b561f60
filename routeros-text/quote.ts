/**
 * Text as strings of the RouterOS console language. `"` would end the string, `$` would name a variable, `\` begins an escape, `?` asks
 * for help in a terminal, and a line break would end the line. They are written as the hexadecimal number of their bytes, which
 * RouterOS 6 and 7 read alike. Pure.
 */

/** On one line, whatever the text holds: SSH exec takes exactly one line. Other characters stay as they are, in UTF-8. */
export function quote(text: string): string {
  return `"${text.replace(/["\\$?]|\p{Cc}/gu, hexBytes)}"`;
}

/** Printable ASCII only, for lines that a person pastes into a terminal: what a terminal does with other characters depends on its settings. */
export function quoteAscii(text: string): string {
  return `"${text.replace(/[^\w .:,/@=+*#'(){}[\]<>~&%!;|^-]/gu, hexBytes)}"`;
}

function hexBytes(character: string): string {
  return Array.from(Buffer.from(character), (byte) => `\\${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');
}
