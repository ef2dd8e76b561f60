import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { AppLink } from '../../../parts/app-link.tsx';
import { fill } from '../../../parts/fill.tsx';
import { FilterBox } from '../../../parts/filter-box.tsx';
import { PageHead } from '../../../parts/page-head.tsx';
import { RecordTable } from '../../../parts/record-table.tsx';
import type { Column } from '../../../parts/record-table.tsx';
import { useMay } from '../../../session/use-may.ts';
import { SiteDialog } from './site-dialog.tsx';
import { Share } from './share.tsx';
import { useSites } from './use-sites.ts';
import type { SiteNow } from './use-sites.ts';
import { words } from './words.ts';

/** Every site with the share of its routers that answer. */
export function SitesPage() {
  const { q = '' } = useSearch({ from: '/sites' });
  const navigate = useNavigate({ from: '/sites' });
  const { sites, isFirst, error } = useSites();
  const [isMaking, setMaking] = useState(false);
  const mayMake = useMay('admin');
  const records = sites.filter(({ site }) => site.name.toLowerCase().includes(q.toLowerCase()));
  const list = { records, total: records.length, isTotalExact: true, isFirst, error, hasMore: false, readMore: () => undefined };
  return (
    <>
      <PageHead
        title={words.sites}
        actions={
          <>
            <AppLink href="/map" className="btn quiet">
              {words.map}
            </AppLink>
            {mayMake ? (
              <button type="button" className="btn main-act" onClick={() => setMaking(true)}>
                {words.add}
              </button>
            ) : null}
          </>
        }
      />
      <FilterBox
        value={q}
        onChange={(text) => void navigate({ search: text === '' ? {} : { q: text }, replace: true })}
        placeholder={words.filter}
        count={fill(words.found, { shown: <b>{records.length}</b>, all: sites.length })}
      />
      <RecordTable
        label={words.sites}
        columns={COLUMNS}
        list={list}
        keyOf={({ site }) => site.id}
        empty={q === '' ? words.none : words.noMatch}
      />
      {isMaking ? <SiteDialog onClose={() => setMaking(false)} /> : null}
    </>
  );
}

const COLUMNS: readonly Column<SiteNow>[] = [
  {
    title: words.columns.site,
    width: 'minmax(140px, 1.2fr)',
    className: 'el',
    cell: ({ site: { id, name } }) => (
      <AppLink href={`/sites/${id}`} className="b">
        {name}
      </AppLink>
    ),
  },
  { title: words.columns.answering, width: 'minmax(150px, 1fr)', cell: (site) => <Share {...site} /> },
  { title: words.columns.routers, width: '80px', className: 'num', isWide: true, cell: ({ routers }) => routers },
  { title: words.columns.zone, width: 'minmax(110px, .8fr)', className: 'el dim', isWide: true, cell: ({ site }) => site.time_zone ?? '' },
  {
    title: words.columns.position,
    width: '140px',
    className: 'num dim id',
    isWide: true,
    cell: ({ site: { latitude, longitude } }) =>
      latitude === null || longitude === null ? '' : `${latitude.toFixed(3)}, ${longitude.toFixed(3)}`,
  },
];
