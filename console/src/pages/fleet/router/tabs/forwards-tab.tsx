import { useParams } from '@tanstack/react-router';
import type { TransientForward } from '../../../../../../client/browser.ts';
import { useList } from '../../../../data/use-list.ts';
import { AppLink } from '../../../../parts/app-link.tsx';
import { endpoint } from '../../../../parts/endpoint.ts';
import { Moment } from '../../../../parts/moment.tsx';
import { RecordTable } from '../../../../parts/record-table.tsx';
import type { Column } from '../../../../parts/record-table.tsx';
import { StateOfForward } from '../../../work/forwards/state-of-forward.tsx';
import { words } from './words.ts';

/** The forwards of one router, open ones and closed ones, newest first. */
export function ForwardsTab() {
  const { routerId } = useParams({ from: '/routers/$routerId' });
  const list = useList('forwards', 'listForwards', { path: { router_id: routerId }, query: { limit: 100 } });
  const columns: readonly Column<TransientForward>[] = [
    {
      title: words.forwards.columns.target,
      width: 'minmax(150px, 1.4fr)',
      className: 'el id',
      cell: ({ id, dst_address: host, dst_port: port }) => (
        <AppLink href={`/forwards/${routerId}/${id}`} className="b">
          {endpoint(host, port)}
        </AppLink>
      ),
    },
    {
      title: words.forwards.columns.state,
      width: 'minmax(120px, 1fr)',
      className: 'el',
      cell: (forward) => <StateOfForward forward={forward} />,
    },
    {
      title: words.forwards.columns.client,
      width: 'minmax(120px, 1fr)',
      className: 'el id dim',
      cell: ({ allow_only_cidr: cidr }) => cidr,
    },
    {
      title: words.forwards.columns.opened,
      width: '90px',
      className: 'num dim',
      isWide: true,
      cell: ({ created_at: at }) => <Moment at={at} />,
    },
    {
      title: words.forwards.columns.ends,
      width: '90px',
      className: 'num dim',
      cell: (forward) => <Moment at={forward.closed_at ?? forward.expires_at} />,
    },
  ];
  return (
    <div className="tab-body">
      <RecordTable label={words.forwards.label} columns={columns} list={list} keyOf={({ id }) => id} empty={words.forwards.none} />
    </div>
  );
}
