import { diffLines } from './myers.ts';
import type { Edit } from './myers.ts';

/** Unchanged lines shown around a change. */
const CONTEXT = 3;
/** More nobody reads, and a browser should not have to show. */
const MOST_CHARS = 1_000_000;

const SIGNS = { same: ' ', removed: '-', added: '+' } as const;

/** Two lists of lines as a unified diff, empty when they are the same. Pure. */
export function unifiedDiff(
  before: { name: string; lines: readonly string[] },
  after: { name: string; lines: readonly string[] },
): { diff: string; truncated: boolean } {
  const edits = diffLines(before.lines, after.lines);
  const hunks = hunksOf(edits);
  if (hunks.length === 0) return { diff: '', truncated: false };
  const diff = [`--- ${before.name}`, `+++ ${after.name}`, ...hunks.flatMap((hunk) => printHunk(edits, hunk))].join('\n');
  const truncated = diff.length > MOST_CHARS;
  return { diff: `${truncated ? diff.slice(0, diff.lastIndexOf('\n', MOST_CHARS)) : diff}\n`, truncated };
}

interface Hunk {
  start: number;
  end: number;
}

/** Changes that lie so close that their contexts touch are one hunk. */
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

function printHunk(edits: readonly Edit[], { start, end }: Hunk): string[] {
  const count = (from: number, to: number, other: Edit['kind']): number =>
    edits.slice(from, to).filter(({ kind }) => kind === 'same' || kind === other).length;
  const range = (other: Edit['kind']): string => {
    const length = count(start, end, other);
    const first = count(0, start, other);
    // Of nothing, the line before is named.
    return `${length === 0 ? first : first + 1}${length === 1 ? '' : `,${length}`}`;
  };
  const lines = edits.slice(start, end).map(({ kind, line }) => `${SIGNS[kind]}${line}`);
  return [`@@ -${range('removed')} +${range('added')} @@`, ...lines];
}
