import { useParams } from '@tanstack/react-router';
import type { TransientForward } from '../../../../../../client/browser.ts';
import { useList } from '../../../../data/use-list.ts';
import { AppLink } from '../../../../parts/app-link.tsx';
import { Moment } from '../../../../parts/moment.tsx';
import { RecordTable } from '../../../../parts/record-table.tsx';
import type { Column } from '../../../../parts/record-table.tsx';

/** The forwards of one router, open ones and closed ones, newest first. */
export function ForwardsTab() {
  const { routerId } = useParams({ from: '/routers/$routerId' });
  const list = useList('forwards', 'listForwards', { path: { router_id: routerId }, query: { limit: 100 } });
  const columns: readonly Column<TransientForward>[] = [
    {
      title: 'Target',
      width: 'minmax(150px, 1.4fr)',
      className: 'el id',
      cell: ({ id, dst_address: host, dst_port: port }) => (
        <AppLink href={`/forwards/${routerId}/${id}`} className="b">
          {host}:{port}
        </AppLink>
      ),
    },
    {
      title: 'State',
      width: 'minmax(90px, 1fr)',
      cell: ({ closed_at: closed, open_connections: open }) =>
        closed === null ? <b className="b">open, {open} connections</b> : <span className="dim">closed</span>,
    },
    { title: 'For', width: 'minmax(120px, 1fr)', className: 'el id dim', isWide: true, cell: ({ allow_only_cidr: cidr }) => cidr },
    { title: 'Opened', width: '90px', className: 'num dim', isWide: true, cell: ({ created_at: at }) => <Moment at={at} /> },
    {
      title: 'Ends',
      width: '90px',
      className: 'num dim',
      isWide: true,
      cell: (forward) => <Moment at={forward.closed_at ?? forward.expires_at} />,
    },
  ];
  return (
    <div className="tab-body">
      <RecordTable label="Forwards of this router" columns={columns} list={list} keyOf={({ id }) => id} empty={NONE} />
    </div>
  );
}

const NONE = 'Doors to one port behind this router, for one address and for a time, would be here.';
