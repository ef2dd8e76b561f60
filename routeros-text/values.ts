/** Values as routers print them, over the API and on the console. Pure. */

/** `true`, `yes`. */
export function isTrue(text: string | undefined): boolean {
  return text === 'true' || text === 'yes';
}

/** The number at the start of a text: `24.1`, `24.1V`, `2%`, `-5C`. Undefined for any other text, and for numbers out of range. */
export function leadingNumber(text: string | undefined): number | undefined {
  const match = /^\s*([+-]?\d+(?:\.\d+)?)/.exec(text ?? '');
  const number = match ? Number(match[1]) : Number.NaN;
  return Number.isFinite(number) ? number : undefined;
}

const BYTES: Readonly<Record<string, number>> = { '': 1, B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40 };

/** Bytes: plain over the API, `40.2MiB` or `15 360` on the console. Undefined for any other text. */
export function parseBytes(text: string | undefined): number | undefined {
  const match = /^(\d+(?:\.\d+)?)([KMGT]iB|B)?$/.exec((text ?? '').replace(/\s/g, ''));
  return match ? Math.round(Number(match[1]) * BYTES[match[2] ?? '']!) : undefined;
}

/** A `name: value` line, as `print` writes it in a menu with a single record. */
export function recordLine(line: string): [name: string, value: string] | undefined {
  const match = /^\s*([a-z][a-z0-9-]*): (.*?)\s*$/.exec(line);
  return match ? [match[1]!, match[2]!] : undefined;
}
