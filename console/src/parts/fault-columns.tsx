import type { Fault } from '../../../client/browser.ts';
import { Moment } from './moment.tsx';
import type { Column } from './record-table.tsx';
import { lengthOf } from './times.ts';

const COLOURS: Record<string, string> = { critical: 'c-not b', warning: 'c-away b' };

/** What every list of faults shows. */
export const FAULT_COLUMNS: readonly Column<Fault>[] = [
  {
    title: 'Fault',
    width: 'minmax(190px, 2fr)',
    className: 'el',
    cell: ({ message, cause, status }) => <span title={cause}>{status === 'open' ? <b className="b">{message}</b> : message}</span>,
  },
  {
    title: 'State',
    width: 'minmax(110px, .8fr)',
    className: 'el',
    cell: ({ status, severity }) =>
      status === 'open' ? (
        <>
          <span className={COLOURS[severity] ?? 'b'}>open</span>, {severity}
        </>
      ) : (
        <span className="dim">resolved, {severity}</span>
      ),
  },
  { title: 'Began', width: '90px', className: 'dim', cell: ({ created_at: at }) => <Moment at={at} /> },
  { title: 'Lasted', width: '80px', className: 'num dim', isWide: true, cell: ({ duration }) => lengthOf(duration * 1000) },
  { title: 'Times', width: '50px', className: 'num dim', isWide: true, cell: ({ occurrences }) => (occurrences === 1 ? '' : occurrences) },
];
