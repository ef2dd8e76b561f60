/**
 * A value as a RouterOS string, whatever is in it. Everything but plain characters is written as the hexadecimal number of its
 * bytes: `$` would name a variable, `?` asks for help in a terminal, and a line break would end the line that is pasted.
 */
export function quote(text: string): string {
  const escaped = Array.from(Buffer.from(text), (byte) => {
    const character = String.fromCodePoint(byte);
    const isPlain = byte < 128 && /[\w .:,/@=+*#'(){}[\]<>~&%!;|^-]/.test(character);
    return isPlain ? character : `\\${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  });
  return `"${escaped.join('')}"`;
}
