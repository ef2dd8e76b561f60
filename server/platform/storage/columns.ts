/** Conversions between column values (schema.ts) and program values. */

export function toFlag(value: boolean): 0 | 1 {
  return value ? 1 : 0;
}

export function fromFlag(value: 0 | 1): boolean;
export function fromFlag(value: 0 | 1 | null): boolean | null;
export function fromFlag(value: 0 | 1 | null): boolean | null {
  return value === null ? null : value === 1;
}

export function toJson(value: unknown): string {
  return JSON.stringify(value);
}

/** The caller validates the result, best with a zod schema. */
export function fromJson(text: string): unknown {
  return JSON.parse(text);
}

/** A time in the format of the interface. */
export function toIso(millis: number): string;
export function toIso(millis: number | null): string | null;
export function toIso(millis: number | null): string | null {
  return millis === null ? null : new Date(millis).toISOString();
}

/**
 * Makes text of a device or another program storable on both engines: invalid characters become U+FFFD.
 * Without it one NUL byte in a script's output would make its result impossible to record.
 */
export function storableText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\uFFFD');
}

/** Rows of one statement, at most: well under SQLite's 32,766 and PostgreSQL's 65,535 parameters, and 1 ms of work. */
const CHUNK_ROWS = 500;

export function inChunks<T>(rows: readonly T[], size = CHUNK_ROWS): T[][] {
  const chunks: T[][] = [];
  for (let start = 0; start < rows.length; start += size) chunks.push(rows.slice(start, start + size));
  return chunks;
}
