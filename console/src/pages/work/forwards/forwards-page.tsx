import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { TransientForward } from '../../../../../client/browser.ts';
import { useFleet, useRoutersVersion } from '../../../data/use-fleet.ts';
import { useList } from '../../../data/use-list.ts';
import { endpoint } from '../../../parts/endpoint.ts';
import { FilterBox } from '../../../parts/filter-box.tsx';
import { quoted } from '../../../parts/filter-words.ts';
import { PageHead } from '../../../parts/page-head.tsx';
import { RecordTable } from '../../../parts/record-table.tsx';
import type { Column } from '../../../parts/record-table.tsx';
import { RouterLink } from '../../../parts/router-link.tsx';
import { sizeOf } from '../../../parts/sizes.ts';
import { lengthOf, shortTime } from '../../../parts/times.ts';
import { useNow } from '../../../parts/use-now.ts';
import { useMay } from '../../../session/use-may.ts';
import { forwardsFilter } from './filter.ts';
import { StateOfForward } from './state-of-forward.tsx';
import { stateOfForward, words } from './words.ts';
import '../work.css';

const COLUMNS: readonly Column<TransientForward>[] = [
  { title: words.columns.state, width: 'minmax(130px, 1fr)', cell: (forward) => <StateOfForward forward={forward} />, className: 'el' },
  {
    title: words.columns.to,
    width: 'minmax(140px, 1fr)',
    cell: (forward) => (
      <Link to="/forwards/$routerId/$forwardId" params={{ routerId: forward.router_id, forwardId: forward.id }} className="hand id">
        {endpoint(forward.dst_address, forward.dst_port)}
      </Link>
    ),
    className: 'el',
  },
  { title: words.columns.behind, width: 'minmax(110px, .8fr)', cell: (forward) => <RouterLink id={forward.router_id} />, className: 'el' },
  {
    title: words.columns.from,
    width: 'minmax(110px, .8fr)',
    cell: (forward) => forward.allow_only_cidr,
    className: 'el dim id',
    isWide: true,
  },
  {
    title: words.columns.entry,
    width: 'minmax(140px, 1fr)',
    cell: (forward) => endpoint(forward.entry_point, forward.port),
    className: 'el dim id',
    isWide: true,
  },
  { title: words.columns.open, width: '82px', cell: (forward) => forward.open_connections || '', className: 'num', isWide: true },
  {
    title: words.columns.bytes,
    width: '72px',
    cell: (forward) => sizeOf(forward.bytes_in + forward.bytes_out),
    className: 'num dim',
    isWide: true,
  },
  { title: words.columns.left, width: '84px', cell: (forward) => <TimeLeft forward={forward} />, className: 'num' },
];

/** Every forward of the team: open ones, unless the filter says otherwise. */
export function ForwardsPage() {
  const search = useSearch({ from: '/forwards' });
  const navigate = useNavigate({ from: '/forwards' });
  const { routers } = useFleet();
  const version = useRoutersVersion();
  const { query, wrong } = useMemo(() => {
    void version;
    return forwardsFilter(search, routers.values());
  }, [search, routers, version]);
  const list = useList('forwards', 'listTeamForwards', { query: { ...query, limit: 200, total: 'true' } });
  const mayOpen = useMay('operator');
  const router = query.router_id === undefined ? undefined : routers.get(query.router_id);
  return (
    <>
      <PageHead
        title={router ? words.list.behind(router.identity) : words.forwards}
        actions={
          mayOpen && routers.size > 0 ? (
            <Link to="/forwards/new" search={router ? { router: router.id } : {}} className="btn main-act">
              {words.list.open}
            </Link>
          ) : null
        }
      />
      <FilterBox
        value={
          search.router === undefined ? (search.q ?? '') : `router:${quoted(router?.identity ?? search.router)} ${search.q ?? ''}`.trim()
        }
        onChange={(text) => void navigate({ search: text === '' ? {} : { q: text }, replace: true })}
        placeholder={words.list.filter}
        hint={words.list.filterHint}
        wrong={wrong}
        count={
          list.total === undefined ? undefined : query.status === 'open' ? words.list.countOpen(list.total) : words.list.count(list.total)
        }
      />
      <RecordTable
        label={words.forwards}
        columns={COLUMNS}
        list={list}
        keyOf={({ id }) => id}
        empty={
          <>
            <p>
              <b>{words.list.empty[query.status ?? 'all']}</b> {words.list.emptyHint}
            </p>
            {mayOpen ? null : <p>{words.list.mayNot}</p>}
          </>
        }
      />
    </>
  );
}

function TimeLeft({ forward }: { forward: TransientForward }) {
  const now = useNow(5000);
  if (!stateOfForward(forward, now).isOpen) return <span className="dim">{shortTime(forward.closed_at ?? forward.expires_at)}</span>;
  return lengthOf(Date.parse(forward.expires_at) - now);
}
