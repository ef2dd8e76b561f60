/** The shortest edit path from one list to another (Myers 1986), bounded in memory and time. Pure. */

export interface Bounds {
  /** The search stores the square of this, in units of 8 bytes. */
  mostEdits: number;
  /** Comparisons left, counted down. */
  steps: { left: number };
}

/**
 * @returns the unchanged runs, as `[position before, position after, length]` in order; undefined when the path is longer than `mostEdits`
 *   or the steps are used up
 */
export function shortestEdits(
  before: Int32Array,
  after: Int32Array,
  bounds: Bounds,
): { kept: [number, number, number][]; isCoarse: false } | undefined {
  const trace = search(before, after, bounds);
  return trace && { kept: walkBack(before.length, after.length, trace), isCoarse: false };
}

/** For each number of edits, the furthest position in `before` on every diagonal; undefined when there are too many edits. */
function search(before: Int32Array, after: Int32Array, { mostEdits, steps }: Bounds): Int32Array[] | undefined {
  const trace: Int32Array[] = [];
  let furthest = new Int32Array(3);
  for (let edits = 0; edits <= Math.min(mostEdits, before.length + after.length); edits += 1) {
    // Diagonal k is at k + edits + 2, with room for one neighbour on each side.
    const next = new Int32Array(2 * edits + 5);
    for (let k = -edits; k <= edits; k += 2) {
      const from = startOf(furthest, edits, k);
      const x = slide(before, after, from, k);
      next[k + edits + 2] = x;
      if (x >= before.length && x - k >= after.length) return [...trace, next];
      steps.left -= x - from + 1;
    }
    if (steps.left <= 0) return undefined;
    trace.push(next);
    furthest = next;
  }
  return undefined;
}

/** Where the path with one more edit starts on diagonal `k`: down from `k + 1` or right from `k - 1`. */
function startOf(furthest: Int32Array, edits: number, k: number): number {
  if (edits === 0) return 0;
  return isDown(furthest, edits, k) ? at(furthest, edits - 1, k + 1) : at(furthest, edits - 1, k - 1) + 1;
}

function isDown(furthest: Int32Array, edits: number, k: number): boolean {
  return k === -edits || (k !== edits && at(furthest, edits - 1, k - 1) < at(furthest, edits - 1, k + 1));
}

function at(furthest: Int32Array, edits: number, k: number): number {
  return furthest[k + edits + 2] ?? 0;
}

function slide(before: Int32Array, after: Int32Array, from: number, k: number): number {
  let x = from;
  while (x < before.length && x - k < after.length && before[x] === after[x - k]) x += 1;
  return x;
}

function walkBack(beforeLength: number, afterLength: number, trace: readonly Int32Array[]): [number, number, number][] {
  const kept: [number, number, number][] = [];
  let [x, y] = [beforeLength, afterLength];
  for (let count = trace.length - 1; count > 0; count -= 1) {
    const furthest = trace[count - 1]!;
    const k = x - y;
    const down = isDown(furthest, count, k);
    const from = down ? at(furthest, count - 1, k + 1) : at(furthest, count - 1, k - 1);
    const length = x - (down ? from : from + 1);
    if (length > 0) kept.push([x - length, y - length, length]);
    [x, y] = [x - length, y - length];
    [x, y] = down ? [x, y - 1] : [x - 1, y];
  }
  if (x > 0) kept.push([0, 0, x]);
  return kept.reverse();
}
