/** What a parser finds in the first bytes of a connection. Every call passes all bytes from the start. */
export type Prelude<T> =
  /** More bytes are needed. A parser says so for a bounded number of bytes only. */
  | { state: 'incomplete' }
  /** The bytes are invalid; more bytes cannot change that. `reason` is for the log. */
  | { state: 'refused'; reason: string }
  /** `length` bytes are consumed; the following bytes belong to the connection itself. */
  | { state: 'complete'; value: T; length: number };

export type ParsePrelude<T> = (bytes: Buffer) => Prelude<T>;

export const INCOMPLETE = { state: 'incomplete' } as const;

export function refused(reason: string): { state: 'refused'; reason: string } {
  return { state: 'refused', reason };
}
