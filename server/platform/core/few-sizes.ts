/** Sizes below this one are taken as they are. */
const SMALLEST = 16;

/**
 * Rows in pieces of at most `most`, of few different sizes: `most`, then powers of two, then the rest. SQLite keeps prepared statements
 * by their text, which has a place for each value: with pieces of any size nearly every insert would be prepared anew.
 */
export function inFewSizes<T>(rows: readonly T[], most: number): T[][] {
  const pieces: T[][] = [];
  for (let start = 0; start < rows.length; start += pieces.at(-1)!.length) {
    const left = rows.length - start;
    const size = left >= most ? most : left < SMALLEST ? left : 2 ** Math.floor(Math.log2(left));
    pieces.push(rows.slice(start, start + size));
  }
  return pieces;
}
