import { AppError } from './errors.ts';

/** A row that the database rejects permanently, and its error. */
export interface RefusedRow<T> {
  row: T;
  error: unknown;
}

export interface StoredApart<T> {
  refused: RefusedRow<T>[];
  /** Not stored because the database is unavailable (`error`): retry later. */
  left: T[];
  error?: unknown;
}

/**
 * Stores rows of many peers in one write. When the database rejects one of them, bisects the rows in order to isolate it, so that
 * the others are stored: one bad row of 500 takes about 18 writes.
 * @param write stores some of the rows in one transaction
 * @returns what was not stored; never rejects
 */
export async function storeApart<T>(rows: readonly T[], write: (rows: readonly T[]) => Promise<void>): Promise<StoredApart<T>> {
  const refused: RefusedRow<T>[] = [];
  const parts: (readonly T[])[] = rows.length > 0 ? [rows] : [];
  for (let part = parts.pop(); part; part = parts.pop()) {
    try {
      await write(part);
    } catch (error) {
      if (!isPermanent(error)) return { refused, left: [...part, ...parts.toReversed().flat()], error };
      const half = Math.ceil(part.length / 2);
      if (part.length === 1) refused.push({ row: part[0]!, error });
      else parts.push(part.slice(half), part.slice(0, half));
    }
  }
  return { refused, left: [] };
}

/** The database works but rejects these values: the same write would fail again. Storage gives other errors these codes. */
function isPermanent(error: unknown): boolean {
  return !(error instanceof AppError && (error.code === 'unavailable' || error.code === 'outcome_unknown'));
}
