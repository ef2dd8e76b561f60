/** One line of a comparison. Numbers are those of the exports' lines, from 1; null where the line is not in that export. */
export interface DiffLine {
  kind: 'same' | 'added' | 'removed';
  before: number | null;
  after: number | null;
  text: string;
}

/** A stretch of changes with the lines around it. */
export interface Hunk {
  /** The menu of the export that its first line belongs to: `/ip address`; '' where the diff does not show it. */
  menu: string;
  lines: readonly DiffLine[];
}

/** Reads a unified diff of two exports. */
export function hunksOf(diff: string): Hunk[] {
  const hunks: { menu: string; lines: DiffLine[] }[] = [];
  let before = 0;
  let after = 0;
  let menu = '';
  for (const line of diff.split('\n')) {
    const [, from, to, context] = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@ ?(.*)$/.exec(line) ?? [];
    if (from !== undefined) {
      before = Number(from);
      after = Number(to);
      menu = context!.startsWith('/') ? context! : menu;
      hunks.push({ menu, lines: [] });
      continue;
    }
    const hunk = hunks.at(-1);
    const sign = line[0];
    // What stands before the first hunk names the files.
    if (!hunk || (sign !== ' ' && sign !== '+' && sign !== '-')) continue;
    const text = line.slice(1);
    if (text.startsWith('/')) menu = text;
    if (hunk.lines.length === 0 && text.startsWith('/')) hunk.menu = '';
    hunk.lines.push({
      kind: sign === ' ' ? 'same' : sign === '+' ? 'added' : 'removed',
      before: sign === '+' ? null : before++,
      after: sign === '-' ? null : after++,
      text,
    });
  }
  return hunks;
}

/** Lines side by side: what was removed stands beside what was added at its place. */
export interface Pair {
  before: DiffLine | undefined;
  after: DiffLine | undefined;
}

export function pairsOf(lines: readonly DiffLine[]): Pair[] {
  const pairs: Pair[] = [];
  let removed: DiffLine[] = [];
  let added: DiffLine[] = [];
  const flush = (): void => {
    for (let index = 0; index < Math.max(removed.length, added.length); index += 1) {
      pairs.push({ before: removed[index], after: added[index] });
    }
    removed = [];
    added = [];
  };
  for (const line of lines) {
    if (line.kind === 'removed') removed.push(line);
    else if (line.kind === 'added') added.push(line);
    else {
      flush();
      pairs.push({ before: line, after: line });
    }
  }
  flush();
  return pairs;
}

export function countsOf(hunks: readonly Hunk[]): { added: number; removed: number } {
  const lines = hunks.flatMap((hunk) => hunk.lines);
  return { added: lines.filter(({ kind }) => kind === 'added').length, removed: lines.filter(({ kind }) => kind === 'removed').length };
}
