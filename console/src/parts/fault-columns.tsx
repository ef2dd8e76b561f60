import type { Fault } from '../../../client/browser.ts';
import { fill } from './fill.tsx';
import { Moment } from './moment.tsx';
import type { Column } from './record-table.tsx';
import { lengthOf } from './times.ts';
import { words } from './words.ts';

const COLOURS: Record<string, string> = { critical: 'c-not b', warning: 'c-away b' };

/** What every list of faults shows. */
export const FAULT_COLUMNS: readonly Column<Fault>[] = [
  {
    title: words.faults.columns.fault,
    width: 'minmax(190px, 2fr)',
    className: 'el',
    cell: ({ message, cause, status }) => <span title={cause}>{status === 'open' ? <b className="b">{message}</b> : message}</span>,
  },
  {
    title: words.faults.columns.state,
    width: 'minmax(110px, .8fr)',
    className: 'el',
    cell: ({ status, severity }) =>
      status === 'open' ? (
        fill(words.faults.openState, { open: <span className={COLOURS[severity] ?? 'b'}>{words.faults.open}</span>, severity })
      ) : (
        <span className="dim">{words.faults.resolvedState(severity)}</span>
      ),
  },
  { title: words.faults.columns.began, width: '90px', className: 'dim', cell: ({ created_at: at }) => <Moment at={at} /> },
  {
    title: words.faults.columns.lasted,
    width: '80px',
    className: 'num dim',
    isWide: true,
    cell: ({ duration }) => lengthOf(duration * 1000),
  },
  { title: words.faults.columns.times, width: '50px', className: 'num dim', isWide: true, cell: ({ occurrences }) => occurrences },
];
