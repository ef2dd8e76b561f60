import type { Terminal } from '../../../../client/browser.ts';
import { useFleet } from '../../data/use-fleet.ts';
import { AppLink } from '../../parts/app-link.tsx';
import { Moment } from '../../parts/moment.tsx';
import type { Column } from '../../parts/record-table.tsx';
import { RouterLink } from '../../parts/router-link.tsx';
import { stateWords } from '../../parts/terminal-words.ts';
import { useMay } from '../../session/use-may.ts';

const ROUTER: Column<Terminal> = {
  title: 'Router',
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
    { title: 'Who', width: 'minmax(110px, .9fr)', cell: openerOf, className: 'el' },
    { title: 'Level', width: '48px', cell: ({ level }) => level, isWide: true },
    { title: 'Reason', width: 'minmax(140px, 1.4fr)', cell: ({ reason }) => reason, className: 'el' },
    { title: 'State', width: 'minmax(150px, 1fr)', cell: stateWords, className: 'el dim', isWide: true },
    { title: 'Opened', width: '84px', cell: ({ created_at: at }) => <Moment at={at} className="dim" />, className: 'num', isWide: true },
    { title: 'Actions', width: '84px', cell: (terminal) => <Acts terminal={terminal} onEnd={onEnd} /> },
  ];
}

function Acts({ terminal, onEnd }: { terminal: Terminal; onEnd: Cells['onEnd'] }) {
  const { me } = useFleet();
  const isAdmin = useMay('admin');
  if (terminal.status === 'open') {
    if (!isAdmin && terminal.opened_by !== me.id) return null;
    return (
      <button type="button" className="btn quiet sm" onClick={() => onEnd(terminal)}>
        End
      </button>
    );
  }
  return isAdmin && terminal.recording === 'kept' ? (
    <AppLink href={`/terminals/${terminal.id}`} className="hand">
      Recording
    </AppLink>
  ) : null;
}
