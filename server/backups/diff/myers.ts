/** The shortest way from one list of lines to another (Myers 1986), bounded. Pure. */

export interface Edit {
  kind: 'same' | 'removed' | 'added';
  line: string;
}

/**
 * Differences followed: the search remembers the square of this (8 MB at most). Beyond it, everything between the
 * common beginning and the common end is called replaced, which is true but not short.
 */
const MOST_EDITS = 1000;

export function diffLines(before: readonly string[], after: readonly string[]): Edit[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < before.length - start && end < after.length - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  const [old, young] = [before.slice(start, before.length - end), after.slice(start, after.length - end)];
  const same = (line: string): Edit => ({ kind: 'same', line });
  return [...before.slice(0, start).map(same), ...between(old, young), ...before.slice(before.length - end).map(same)];
}

function between(before: readonly string[], after: readonly string[]): Edit[] {
  const trace = search(before, after);
  if (trace) return walkBack(before, after, trace);
  return [
    ...before.map((line): Edit => ({ kind: 'removed', line })),
    ...after.map((line): Edit => ({ kind: 'added', line })),
  ];
}

/** For each number of edits the furthest position in `before` on every diagonal; undefined when there are too many. */
function search(before: readonly string[], after: readonly string[]): Int32Array[] | undefined {
  const trace: Int32Array[] = [];
  let furthest = new Int32Array(3);
  for (let edits = 0; edits <= Math.min(MOST_EDITS, before.length + after.length); edits += 1) {
    // Diagonal k lies at k + edits + 1, with room for a neighbour on either side.
    const next = new Int32Array(2 * edits + 5);
    for (let k = -edits; k <= edits; k += 2) {
      const x = slide(before, after, startOf(furthest, edits, k), k);
      next[k + edits + 2] = x;
      if (x >= before.length && x - k >= after.length) return [...trace, next];
    }
    trace.push(next);
    furthest = next;
  }
  return undefined;
}

/** Where the path of one more edit starts on diagonal `k`: down from `k + 1` or right from `k - 1`. */
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

function slide(before: readonly string[], after: readonly string[], from: number, k: number): number {
  let x = from;
  while (x < before.length && x - k < after.length && before[x] === after[x - k]) x += 1;
  return x;
}

function walkBack(before: readonly string[], after: readonly string[], trace: readonly Int32Array[]): Edit[] {
  const edits: Edit[] = [];
  let [x, y] = [before.length, after.length];
  for (let count = trace.length - 1; count > 0; count -= 1) {
    const furthest = trace[count - 1]!;
    const k = x - y;
    const down = isDown(furthest, count, k);
    const from = down ? at(furthest, count - 1, k + 1) : at(furthest, count - 1, k - 1);
    for (; x > (down ? from : from + 1); x -= 1, y -= 1) edits.push({ kind: 'same', line: before[x - 1]! });
    edits.push(down ? { kind: 'added', line: after[y - 1]! } : { kind: 'removed', line: before[x - 1]! });
    [x, y] = down ? [x, y - 1] : [x - 1, y];
  }
  for (; x > 0; x -= 1) edits.push({ kind: 'same', line: before[x - 1]! });
  return edits.reverse();
}
