/**
 * For lists in a statement where a value may stand twice: as many as the next power of two, the last one repeated. SQLite keeps prepared
 * statements by their text. With lists of any length there would be hundreds of texts, each prepared anew.
 */
export function padded<T>(values: readonly T[]): T[] {
  const size = 2 ** Math.ceil(Math.log2(Math.max(1, values.length)));
  return [...values, ...Array.from({ length: values.length === 0 ? 0 : size - values.length }, () => values.at(-1)!)];
}
