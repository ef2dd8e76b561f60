import { shortestEdits } from './myers.ts';

/** The edits from one list of lines to another, in bounded time. Pure. */

export interface Edit {
  kind: 'same' | 'removed' | 'added';
  line: string;
}

export interface LineDiff {
  edits: Edit[];
  /** There were too many differences for the shortest diff: it is correct, but some blocks are shown as replaced. */
  isCoarse: boolean;
}

/** Line comparisons in total: about half a second. Two exports of 7 MB with 450 changes need 40 million. */
const MOST_STEPS = 100_000_000;
/** Edits followed within one block: the search stores the square of this, 8 MB. */
const MOST_EDITS = 1000;
/** The same for blocks between anchors, which are short unless nothing is alike. */
const MOST_EDITS_OF_BLOCK = 200;

/**
 * The shortest diff (Myers), if it can be found in bounded time. Otherwise lines that occur exactly once in both lists become anchors
 * (patience diff), and the shortest diff is searched between them. A block that is still too different is shown as replaced.
 */
export function diffLines(before: readonly string[], after: readonly string[]): LineDiff {
  const numbers = new Map<string, number>();
  const steps = { left: MOST_STEPS };
  const [a, b] = [numbered(before, numbers), numbered(after, numbers)];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end += 1;
  const [oldPart, newPart] = [a.subarray(start, a.length - end), b.subarray(start, b.length - end)];
  const whole = shortestEdits(oldPart, newPart, { mostEdits: MOST_EDITS, steps });
  const middle = whole ?? betweenAnchors(oldPart, newPart, steps);
  return { edits: withLines(before, after, start, middle.kept), isCoarse: whole === undefined && middle.isCoarse };
}

/** Lines as numbers, equal for equal lines: comparing two of them takes a nanosecond, whatever their length. */
function numbered(lines: readonly string[], numbers: Map<string, number>): Int32Array {
  return Int32Array.from(lines, (line) => {
    const known = numbers.get(line);
    if (known !== undefined) return known;
    numbers.set(line, numbers.size);
    return numbers.size - 1;
  });
}

/** Runs of lines that are the same in both, as `[position before, position after, length]`, in order. */
export type Kept = [number, number, number][];

function betweenAnchors(a: Int32Array, b: Int32Array, steps: { left: number }): { kept: Kept; isCoarse: boolean } {
  // With a separate budget: the first search has used up its own.
  const own = { left: Math.max(steps.left, MOST_STEPS / 10) };
  const kept: Kept = [];
  let isCoarse = false;
  let [x, y] = [0, 0];
  for (const [nextX, nextY] of [...anchors(a, b), [a.length, b.length] as const]) {
    const block = shortestEdits(a.subarray(x, nextX), b.subarray(y, nextY), { mostEdits: MOST_EDITS_OF_BLOCK, steps: own });
    if (block) for (const [i, j, length] of block.kept) kept.push([x + i, y + j, length]);
    else isCoarse = true;
    if (nextX < a.length && nextY < b.length) kept.push([nextX, nextY, 1]);
    [x, y] = [nextX + 1, nextY + 1];
  }
  return { kept, isCoarse };
}

/** Lines that occur exactly once in both lists and in the same order (longest increasing subsequence). */
function anchors(a: Int32Array, b: Int32Array): [number, number][] {
  const inB = onceIn(b);
  const pairs: [number, number][] = [];
  for (const [line, x] of onceIn(a)) {
    const y = inB.get(line);
    if (x >= 0 && y !== undefined && y >= 0) pairs.push([x, y]);
  }
  pairs.sort(([x], [y]) => x - y);
  return longestRising(pairs);
}

/** Line to its position, -1 for lines that occur more than once. */
function onceIn(lines: Int32Array): Map<number, number> {
  const positions = new Map<number, number>();
  for (let at = 0; at < lines.length; at += 1) positions.set(lines[at]!, positions.has(lines[at]!) ? -1 : at);
  return positions;
}

function longestRising(pairs: readonly [number, number][]): [number, number][] {
  /** The last pair of the best sequence of each length, and the predecessor of each pair. */
  const ends: number[] = [];
  const previous = new Int32Array(pairs.length).fill(-1);
  for (const [index, [, y]] of pairs.entries()) {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (pairs[ends[middle]!]![1] < y) low = middle + 1;
      else high = middle;
    }
    if (low > 0) previous[index] = ends[low - 1]!;
    ends[low] = index;
  }
  const row: [number, number][] = [];
  for (let index = ends.at(-1) ?? -1; index >= 0; index = previous[index]!) row.push(pairs[index]!);
  return row.reverse();
}

function withLines(before: readonly string[], after: readonly string[], start: number, kept: Kept): Edit[] {
  const edits: Edit[] = [];
  let [x, y] = [0, 0];
  const upTo = (nextX: number, nextY: number): void => {
    for (; x < nextX; x += 1) edits.push({ kind: 'removed', line: before[x]! });
    for (; y < nextY; y += 1) edits.push({ kind: 'added', line: after[y]! });
  };
  const same = (length: number): void => {
    for (const from = x; x < from + length; x += 1, y += 1) edits.push({ kind: 'same', line: before[x]! });
  };
  same(start);
  for (const [i, j, length] of kept) {
    upTo(start + i, start + j);
    same(length);
  }
  // The common end.
  let end = 0;
  while (end < before.length - x && end < after.length - y && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  upTo(before.length - end, after.length - end);
  same(end);
  return edits;
}
