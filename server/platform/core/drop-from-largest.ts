/**
 * Makes room in a full list: removes the oldest `count` items of the party that has the most, so that no party
 * loses items because of another. Keeps the order of the rest.
 */
export function dropFromLargest<T>(items: readonly T[], partyOf: (item: T) => string, count: number): T[] {
  const sizes = new Map<string, number>();
  for (const item of items) sizes.set(partyOf(item), (sizes.get(partyOf(item)) ?? 0) + 1);
  const [largest] = [...sizes].reduce((one, other) => (other[1] > one[1] ? other : one), ['', 0]);
  let left = count;
  return items.filter((item) => partyOf(item) !== largest || left-- <= 0);
}
