import './terminals.css';
import type { Terminal } from '../../../../client/browser.ts';
import { useFleet } from '../../data/use-fleet.ts';
import { useList } from '../../data/use-list.ts';
import { useWrite } from '../../data/use-write.ts';
import { AppLink } from '../../parts/app-link.tsx';
import { Moment } from '../../parts/moment.tsx';
import { PageHead } from '../../parts/page-head.tsx';
import { RecordTable } from '../../parts/record-table.tsx';
import type { Column } from '../../parts/record-table.tsx';
import { RouterLink } from '../../parts/router-link.tsx';
import { useMay } from '../../session/use-may.ts';
import { stateWords } from './words.ts';

const COLUMNS: readonly Column<Terminal>[] = [
  { title: 'Router', width: 'minmax(110px, .8fr)', cell: ({ router_id: id }) => <RouterLink id={id} />, className: 'el' },
  { title: 'Level', width: '60px', cell: ({ level }) => level },
  { title: 'Reason', width: 'minmax(140px, 1.4fr)', cell: ({ reason }) => reason, className: 'el' },
  { title: 'State', width: 'minmax(160px, 1fr)', cell: stateWords, className: 'el dim', isWide: true },
  { title: 'Opened', width: '84px', cell: ({ created_at: at }) => <Moment at={at} className="dim" />, className: 'num' },
  { title: 'Do', width: '120px', cell: (terminal) => <Acts terminal={terminal} /> },
];

/** Terminals of all routers, newest first. */
export function TerminalsPage() {
  const list = useList('terminals', 'listTerminals', { query: { limit: 200 } });
  return (
    <>
      <PageHead title="Terminals" sentence="Shells on routers. Everything that a router prints is recorded." />
      <RecordTable
        label="Terminals"
        columns={COLUMNS}
        list={list}
        keyOf={({ id }) => id}
        empty={
          <p>
            <b>No terminal has been opened.</b> A router's page has one, if its agent allows it.
          </p>
        }
      />
    </>
  );
}

function Acts({ terminal }: { terminal: Terminal }) {
  const { me } = useFleet();
  const isAdmin = useMay('admin');
  const end = useWrite('endTerminal', ['terminals']);
  if (terminal.status === 'open') {
    if (!isAdmin && terminal.opened_by !== me.id) return null;
    return (
      <button type="button" className="btn quiet sm" onClick={() => void end.send({ path: { terminal_id: terminal.id } })}>
        End
      </button>
    );
  }
  return isAdmin && terminal.recording === 'kept' ? <AppLink href={`/terminals/${terminal.id}`}>Recording</AppLink> : null;
}
