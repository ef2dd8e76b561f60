/** What a list is ordered by: the value of one record in its order. */
export type SortValue = string | number;

/** One page of a list in an order that the caller chose. */
export interface ListPage<Sort extends string = string> {
  limit: number;
  sort: Sort;
  descending: boolean;
  /** The last record of the page before: its value and its id. The page begins behind it, even if that record has changed since. */
  after: { value: SortValue; id: string } | undefined;
}

/** Number of records that a filter matches. */
export interface Total {
  count: number;
  /** False: there are at least this many; counting stopped there. */
  isExact: boolean;
}

/** Values of a filter with several: some wanted, some not. `null` stands for records without a value. */
export interface Among<Value extends string | null = string> {
  only: readonly Value[];
  not: readonly Value[];
}

/** The values of a fixed set that a filter leaves. All of them when the filter names none. */
export function chosen<Value extends string>(all: readonly Value[], { only, not }: Among): Value[] {
  return all.filter((value) => (only.length === 0 || only.includes(value)) && !not.includes(value));
}

function compareValues(one: SortValue, other: SortValue): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

/** Puts pages of the same order together: the first `limit` records of all of them. */
export function mergePages<Row extends { id: string }>(
  pages: readonly Row[][],
  { limit, descending }: ListPage,
  valueOf: (row: Row) => SortValue,
): Row[] {
  if (pages.length === 1) return pages[0]!;
  const sign = descending ? -1 : 1;
  return pages
    .flat()
    .toSorted((one, other) => sign * (compareValues(valueOf(one), valueOf(other)) || compareValues(one.id, other.id)))
    .slice(0, limit);
}

/**
 * One page of records that are all in memory. Only those that can be on it are sorted: a page of 10,000 takes a millisecond or two.
 * @param valueOf a record's value in the order
 */
export function firstOf<Row extends { id: string }>(
  rows: Iterable<Row>,
  { limit, descending, after }: ListPage,
  valueOf: (row: Row) => SortValue,
): Row[] {
  const sign = descending ? -1 : 1;
  const orderTo = (one: Row, value: SortValue, id: string): number =>
    sign * (compareValues(valueOf(one), value) || compareValues(one.id, id));
  const order = (one: Row, other: Row): number => orderTo(one, valueOf(other), other.id);
  const first: Row[] = [];
  let worst: Row | undefined;
  for (const row of rows) {
    if ((after && orderTo(row, after.value, after.id) <= 0) || (worst && order(row, worst) >= 0)) continue;
    first.push(row);
    if (first.length < 2 * limit) continue;
    first.sort(order);
    first.length = limit;
    worst = first[limit - 1];
  }
  return first.sort(order).slice(0, limit);
}

/** What the lists of records of routers have in common. */
export interface RecordFilter {
  routerId: string | undefined;
  /** Created at that time or later, milliseconds. */
  from: number | undefined;
  /** Created before that time, milliseconds. */
  to: number | undefined;
}

/** A page of records, and how many there are if that was asked for. */
export interface Found<Row> {
  rows: readonly Row[];
  total: Total | undefined;
}
