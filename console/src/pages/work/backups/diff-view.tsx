import type { BackupDiff } from '../../../../../client/browser.ts';
import { countsOf, hunksOf, pairsOf } from './diff.ts';
import type { DiffLine, Hunk } from './diff.ts';
import { words } from './words.ts';

interface Props {
  diff: BackupDiff;
  isSideBySide?: boolean;
}

const SIGNS = { same: ' ', added: '+', removed: '-' } as const;

/** Two exports compared. Dates and comments of the exports do not count. */
export function DiffView({ diff, isSideBySide = false }: Props) {
  if (!diff.changed) return <p className="empty">{words.diff.same}</p>;
  const hunks = hunksOf(diff.diff);
  const { added, removed } = countsOf(hunks);
  return (
    <>
      <p className="dim diff-sum">{words.diff.sum({ added, removed, isCoarse: diff.coarse, isCut: diff.truncated })}</p>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a scrollable region must be reachable by keyboard */}
      <div className={isSideBySide ? 'diff two' : 'diff'} role="group" aria-label={words.diff.title} tabIndex={0}>
        {hunks.map((hunk, index) => (
          // A hunk has no other name than its place.
          // oxlint-disable-next-line react/no-array-index-key
          <HunkView key={index} hunk={hunk} isSideBySide={isSideBySide} />
        ))}
      </div>
    </>
  );
}

function HunkView({ hunk, isSideBySide }: { hunk: Hunk; isSideBySide: boolean }) {
  const first = hunk.lines[0];
  return (
    <div className="hunk">
      <p className="hunk-head">{words.diff.place(hunk.menu, first?.before ?? first?.after ?? 1)}</p>
      {isSideBySide
        ? pairsOf(hunk.lines).map((pair, index) => (
            // oxlint-disable-next-line react/no-array-index-key -- lines have no other name than their place
            <div key={index} className="pair">
              <Half line={pair.before} number={pair.before?.before ?? null} />
              <Half line={pair.after} number={pair.after?.after ?? null} />
            </div>
          ))
        : hunk.lines.map((line, index) => (
            // oxlint-disable-next-line react/no-array-index-key -- lines have no other name than their place
            <div key={index} className={line.kind}>
              <span className="ln">{line.before}</span>
              <span className="ln">{line.after}</span>
              <code>
                <span className="g">{SIGNS[line.kind]}</span>
                {line.text}
              </code>
            </div>
          ))}
    </div>
  );
}

function Half({ line, number }: { line: DiffLine | undefined; number: number | null }) {
  if (!line) return <div className="nothing" />;
  return (
    <div className={line.kind}>
      <span className="ln">{number}</span>
      <code>
        <span className="g">{SIGNS[line.kind]}</span>
        {line.text}
      </code>
    </div>
  );
}
