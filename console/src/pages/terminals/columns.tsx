import type { Terminal } from '../../../../client/browser.ts';
import { useFleet } from '../../data/use-fleet.ts';
import { AppLink } from '../../parts/app-link.tsx';
import { Moment } from '../../parts/moment.tsx';
import type { Column } from '../../parts/record-table.tsx';
import { RouterLink } from '../../parts/router-link.tsx';
import { stateWords } from '../../parts/terminal-words.ts';
import { useMay } from '../../session/use-may.ts';
import { words } from './words.ts';

const ROUTER: Column<Terminal> = {
  title: words.columns.router,
  width: 'minmax(110px, .8fr)',
  cell: ({ router_id: id }) => <RouterLink id={id} />,
  className: 'el',
};

interface Cells {
  /** The name of who opened one. */
  openerOf: (terminal: Terminal) => string;
  /** Ends one; the list says what became of it (`use-end.tsx`). */
  onEnd: (terminal: Terminal) => void;
}

/** Terminals of all routers. */
export function columnsOf(cells: Cells): readonly Column<Terminal>[] {
  return [ROUTER, ...columnsOfRouter(cells)];
}

/** Terminals of one router. */
export function columnsOfRouter({ openerOf, onEnd }: Cells): readonly Column<Terminal>[] {
  return [
    { title: words.columns.opener, width: 'minmax(110px, .9fr)', cell: openerOf, className: 'el' },
    { title: words.columns.level, width: '48px', cell: ({ level }) => level, isWide: true },
    { title: words.columns.reason, width: 'minmax(140px, 1.4fr)', cell: ({ reason }) => reason, className: 'el' },
    { title: words.columns.state, width: 'minmax(150px, 1fr)', cell: stateWords, className: 'el dim', isWide: true },
    {
      title: words.columns.opened,
      width: '84px',
      cell: ({ created_at: at }) => <Moment at={at} className="dim" />,
      className: 'num',
      isWide: true,
    },
    { title: words.columns.acts, width: '110px', cell: (terminal) => <Acts terminal={terminal} onEnd={onEnd} /> },
  ];
}

function Acts({ terminal, onEnd }: { terminal: Terminal; onEnd: Cells['onEnd'] }) {
  const { me } = useFleet();
  const isAdmin = useMay('admin');
  if (terminal.status === 'open') {
    if (!isAdmin && terminal.opened_by !== me.id) return null;
    return (
      <>
        {terminal.opened_by === me.id ? (
          <AppLink href={`/routers/${terminal.router_id}/terminal`} className="hand">
            {words.columns.attach}
          </AppLink>
        ) : null}{' '}
        <button type="button" className="btn quiet sm" onClick={() => onEnd(terminal)}>
          {words.columns.end}
        </button>
      </>
    );
  }
  // Of one that never opened, nothing can be played.
  return isAdmin && terminal.recording === 'kept' && terminal.opened_at !== null ? (
    <AppLink href={`/terminals/${terminal.id}`} className="hand">
      {words.columns.recording}
    </AppLink>
  ) : null;
}
