/**
 * A text as a quoted string of the RouterOS console, on one line whatever it holds: SSH exec takes exactly one line.
 * `$` would be replaced by a variable, `\` begins an escape.
 */
export function quote(text: string): string {
  return `"${text.replaceAll(/["$\\\r\n\t]/g, (char) => ESCAPES[char] ?? char)}"`;
}

const ESCAPES: Record<string, string> = {
  '"': '\\"',
  $: '\\$',
  '\\': '\\\\',
  '\r': '\\r',
  '\n': '\\n',
  '\t': '\\t',
};
