import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useVirtualizer } from '@tanstack/react-virtual';
import { memo, useRef } from 'react';
import { useFleet, useRouterRecord } from '../../../data/use-fleet.ts';
import { StateOf } from '../../../parts/lamp.tsx';
import { exactTime, shortTime } from '../../../parts/times.ts';
import type { SortKey } from './search.ts';
import { useFiltered, useSiteNames } from './use-filtered.ts';

const ROW_PX = 30;

const COLUMNS: readonly { key: SortKey; title: string; className?: string }[] = [
  { key: 'state', title: 'State, longest first' },
  { key: 'identity', title: 'Identity' },
  { key: 'site', title: 'Site' },
  { key: 'model', title: 'Model' },
  { key: 'version', title: 'RouterOS' },
  { key: 'since', title: 'Since', className: 'num' },
];

/** Every router of the team: one filter, one order, and only the rows in sight in the page. */
export function RoutersPage() {
  const { q = '', sort = 'state' } = useSearch({ from: '/routers' });
  const navigate = useNavigate({ from: '/routers' });
  const { routers } = useFleet();
  const sites = useSiteNames();
  const ids = useFiltered(q, sort, sites);
  const search = (change: { q?: string; sort?: SortKey }): void =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace: change.q !== undefined });
  return (
    <>
      <div className="head">
        <h1>Routers</h1>
      </div>
      <div className="filter">
        <label className="fbox">
          <span className="sr">Filter</span>
          <input
            type="search"
            value={q}
            placeholder="Name, serial number, model, address"
            spellCheck={false}
            onChange={(event) => search({ q: event.target.value })}
          />
          <span className="t2 faint m-no">state: site: agent: model: version: &nbsp; - excludes &nbsp; &lt; compares</span>
        </label>
        <span className="count" role="status">
          <b>{ids.length}</b> of {routers.size}
        </span>
      </div>
      {ids.length === 0 ? (
        <p className="empty">{routers.size === 0 ? 'No agent has told of a router yet.' : 'No router matches. Shorten the filter.'}</p>
      ) : (
        <Grid ids={ids} sort={sort} onSort={(key) => search({ sort: key })} sites={sites} />
      )}
    </>
  );
}

interface GridProps {
  ids: readonly string[];
  sort: SortKey;
  onSort: (key: SortKey) => void;
  sites: ReadonlyMap<string, string>;
}

function Grid({ ids, sort, onSort, sites }: GridProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({ count: ids.length, getScrollElement: () => scroller.current, estimateSize: () => ROW_PX, overscan: 6 });
  return (
    <div className="grid" role="table" aria-label="Routers" aria-rowcount={ids.length + 1}>
      <div className="grow ghead" role="row" aria-rowindex={1}>
        {COLUMNS.map(({ key, title, className = '' }) => (
          <span key={key} role="columnheader" className={className} aria-sort={key === sort ? 'ascending' : 'none'}>
            <button type="button" className={key === sort ? 'sorted' : ''} onClick={() => onSort(key)}>
              {title}
            </button>
          </span>
        ))}
      </div>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a scrollable region must be reachable by keyboard */}
      <div className="gbody" ref={scroller} tabIndex={0} role="rowgroup">
        <div style={{ height: rows.getTotalSize() }}>
          {rows.getVirtualItems().map(({ index, start }) => (
            <Row key={ids[index]} id={ids[index]!} index={index} top={start} sites={sites} />
          ))}
        </div>
      </div>
    </div>
  );
}

interface RowProps {
  id: string;
  index: number;
  top: number;
  sites: ReadonlyMap<string, string>;
}

const Row = memo(function Row({ id, index, top, sites }: RowProps) {
  const router = useRouterRecord(id);
  if (!router) return null;
  return (
    <div className="grow" role="row" aria-rowindex={index + 2} style={{ transform: `translateY(${top}px)` }}>
      <span role="cell">
        <StateOf state={router.state} reason={router.state_reason} />
      </span>
      <span role="cell" className="el">
        <Link to="/routers/$routerId" params={{ routerId: id }} search={(before) => before} className="id b">
          {router.identity}
        </Link>
      </span>
      <span role="cell" className="dim el">
        {sites.get(router.site_id ?? '') ?? ''}
      </span>
      <span role="cell" className="dim el">
        {router.model ?? router.board_name}
      </span>
      <span role="cell" className="dim id">
        {router.software_version}
      </span>
      <span role="cell" className="num dim">
        {router.state_since === null ? null : (
          <time dateTime={router.state_since} title={exactTime(router.state_since)}>
            {shortTime(router.state_since)}
          </time>
        )}
      </span>
    </div>
  );
});
