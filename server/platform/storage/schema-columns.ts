import type { ColumnType } from 'kysely';

/** Milliseconds since 1970. */
export type Millis = number;
export type Flag = 0 | 1;
/** Set at insert, never changed. */
export type Fixed<T> = ColumnType<T, T, never>;
