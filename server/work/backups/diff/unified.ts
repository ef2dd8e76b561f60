import { diffLines } from './lines.ts';
import type { Edit } from './lines.ts';

/** Unchanged lines shown around a change. */
const CONTEXT = 3;
/** Longer diffs are of no use to a reader, and slow in a browser. */
const MOST_CHARS = 1_000_000;

const SIGNS = { same: ' ', removed: '-', added: '+' } as const;

/** Two lists of lines as a unified diff, empty when they are the same. Pure. */
export function unifiedDiff(
  before: { name: string; lines: readonly string[] },
  after: { name: string; lines: readonly string[] },
): { diff: string; truncated: boolean; coarse: boolean } {
  const { edits, isCoarse } = diffLines(before.lines, after.lines);
  const hunks = hunksOf(edits);
  if (hunks.length === 0) return { diff: '', truncated: false, coarse: false };
  const lines = [`--- ${before.name}`, `+++ ${after.name}`];
  const place = { at: 0, removed: 0, added: 0, section: '' };
  for (const hunk of hunks) for (const line of printHunk(edits, hunk, place)) lines.push(line);
  const diff = lines.join('\n');
  const truncated = diff.length > MOST_CHARS;
  return { diff: `${truncated ? diff.slice(0, diff.lastIndexOf('\n', MOST_CHARS)) : diff}\n`, truncated, coarse: isCoarse };
}

interface Hunk {
  start: number;
  end: number;
}

/** Changes whose context lines touch form one hunk. */
function hunksOf(edits: readonly Edit[]): Hunk[] {
  const hunks: Hunk[] = [];
  for (const [index, { kind }] of edits.entries()) {
    if (kind === 'same') continue;
    const last = hunks.at(-1);
    const end = Math.min(edits.length, index + CONTEXT + 1);
    if (last && index - CONTEXT <= last.end) last.end = end;
    else hunks.push({ start: Math.max(0, index - CONTEXT), end });
  }
  return hunks;
}

/** Counts the edits before `at` and their lines on each side. It continues from hunk to hunk, so each edit is counted once. */
interface Place {
  at: number;
  removed: number;
  added: number;
  /** The last line before it that names a menu of the router: `/ip address`. '' before the first one. */
  section: string;
}

function goTo(edits: readonly Edit[], place: Place, to: number): void {
  for (; place.at < to; place.at += 1) {
    const { kind, line } = edits[place.at]!;
    if (kind !== 'added') place.removed += 1;
    if (kind !== 'removed') place.added += 1;
    if (kind !== 'removed' && line.startsWith('/')) place.section = line;
  }
}

function printHunk(edits: readonly Edit[], { start, end }: Hunk, place: Place): string[] {
  goTo(edits, place, start);
  const first = { ...place };
  goTo(edits, place, end);
  const range = (side: 'removed' | 'added'): string => {
    const length = place[side] - first[side];
    // An empty range is named by the line before it.
    return `${length === 0 ? first[side] : first[side] + 1}${length === 1 ? '' : `,${length}`}`;
  };
  const lines = edits.slice(start, end).map(({ kind, line }) => `${SIGNS[kind]}${line}`);
  // As git names the function around a change: without it, `add address=…` says nothing.
  return [`@@ -${range('removed')} +${range('added')} @@${first.section === '' ? '' : ` ${first.section}`}`, ...lines];
}
