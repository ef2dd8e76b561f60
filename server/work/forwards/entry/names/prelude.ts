/** What a parser makes of the first bytes of a connection, given all of them from the start every time. */
export type Prelude<T> =
  /** More bytes are needed. A parser says so of a bounded number of bytes only. */
  | { state: 'incomplete' }
  /** These bytes are not what they should be, and no more of them will help. `reason` is for the log. */
  | { state: 'refused'; reason: string }
  /** `length` bytes are used up; those that follow belong to the connection itself. */
  | { state: 'complete'; value: T; length: number };

export type ParsePrelude<T> = (bytes: Buffer) => Prelude<T>;

export const INCOMPLETE = { state: 'incomplete' } as const;

export function refused(reason: string): { state: 'refused'; reason: string } {
  return { state: 'refused', reason };
}
