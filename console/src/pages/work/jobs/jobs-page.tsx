import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useDeferredValue, useMemo } from 'react';
import type { ListedJob, Overview } from '../../../../../client/browser.ts';
import { useFleet, useRoutersVersion } from '../../../data/use-fleet.ts';
import { useList } from '../../../data/use-list.ts';
import { useRecord } from '../../../data/use-record.ts';
import { FilterBox } from '../../../parts/filter-box.tsx';
import { Moment } from '../../../parts/moment.tsx';
import { PageHead } from '../../../parts/page-head.tsx';
import { RecordTable } from '../../../parts/record-table.tsx';
import type { Column } from '../../../parts/record-table.tsx';
import { RouterLink } from '../../../parts/router-link.tsx';
import { lengthOf } from '../../../parts/times.ts';
import { WorkLamp, WorkState } from '../../../parts/work-lamp.tsx';
import type { Work } from '../../../parts/work.ts';
import { useMay } from '../../../session/use-may.ts';
import { useSiteNames } from '../../fleet/routers/use-filtered.ts';
import { endOf, reasonWords, tookWords, workOf } from '../words.ts';
import { jobsFilter } from './filter.ts';
import { words } from './words.ts';
import '../work.css';

const COLUMNS: readonly Column<ListedJob>[] = [
  {
    title: words.columns.result,
    width: 'minmax(150px, 1fr)',
    cell: (job) => <WorkState work={workOf(job)} why={reasonWords(workOf(job) === 'rolled_back' ? null : job.reason)} />,
    className: 'el',
  },
  { title: words.columns.router, width: 'minmax(110px, .7fr)', cell: (job) => <RouterLink id={job.router_id} />, className: 'el' },
  {
    title: words.columns.job,
    width: 'minmax(160px, 1.4fr)',
    cell: (job) => (
      <Link to="/jobs/$routerId/$jobId" params={{ routerId: job.router_id, jobId: job.id }} className="hand">
        {job.description === '' ? words.columns.noDescription : job.description}
      </Link>
    ),
    className: 'el',
  },
  { title: words.columns.took, width: '76px', cell: took, className: 'num dim', isWide: true },
  { title: words.columns.made, width: '84px', cell: (job) => <Moment at={job.created_at} className="dim" />, className: 'num' },
];

/** Every job of the team, newest first. The filter is in the address. */
export function JobsPage() {
  const { q = '' } = useSearch({ from: '/jobs' });
  const navigate = useNavigate({ from: '/jobs' });
  const { routers } = useFleet();
  const sites = useSiteNames();
  const version = useRoutersVersion();
  const asked = useDeferredValue(q);
  const { query, wrong } = useMemo(() => {
    void version;
    return jobsFilter(asked, routers.values(), sites);
  }, [asked, routers, version, sites]);
  const list = useList('jobs', 'listTeamJobs', { query: { ...query, limit: 200, total: 'true' } });
  const mayRun = useMay('operator');
  return (
    <>
      <PageHead
        title={words.jobs}
        actions={
          mayRun ? (
            <Link to="/run" search={{ mode: 'script' }} className="btn">
              {words.run}
            </Link>
          ) : null
        }
      />
      <Today />
      <FilterBox
        value={q}
        onChange={(text) => void navigate({ search: text === '' ? {} : { q: text }, replace: true })}
        placeholder={words.filter}
        hint={words.filterHint}
        wrong={wrong}
        count={list.total === undefined ? undefined : list.isTotalExact ? words.count(list.total) : words.countOver(list.total)}
      />
      <RecordTable
        label={words.jobs}
        columns={COLUMNS}
        list={list}
        keyOf={({ id }) => id}
        empty={<Empty isFiltered={q !== ''} mayRun={mayRun} />}
      />
    </>
  );
}

function Empty({ isFiltered, mayRun }: { isFiltered: boolean; mayRun: boolean }) {
  if (isFiltered) return <p>{words.noMatch}</p>;
  return (
    <>
      <p>
        <b>{words.empty}</b> {words.emptyHint}
      </p>
      {mayRun ? null : <p>{words.mayNot}</p>}
    </>
  );
}

function took(job: ListedJob): string {
  const end = endOf(job);
  if (job.started_at === null || end === null) return '';
  const ms = Date.parse(end) - Date.parse(job.started_at);
  return tookWords(ms) || lengthOf(ms);
}

/** With the word of the filter. */
const OF_A_DAY = [
  ['waiting', 'pending', 'waiting'],
  ['running', 'running', 'running'],
  ['done', 'completed', 'done'],
  ['failed', 'failed', 'failed'],
  ['unknown', 'unknown', 'unknown'],
  ['expired', 'expired', 'expired'],
  ['canceled', 'deleted', 'canceled'],
] as const satisfies readonly [Work, keyof Overview['jobs_24h'], string][];

/** Jobs made in the last 24 hours by their result; each leads to those of all times. */
function Today() {
  const { data } = useRecord('overview', 'getOverview', {});
  return (
    <div className="tally" role="group" aria-label={words.today.title}>
      {OF_A_DAY.map(([work, status, word]) => (
        <Link key={work} to="/jobs" search={{ q: `status:${word}` }}>
          <WorkLamp work={work} size={13} />
          <strong>{data === undefined ? ' ' : data.jobs_24h[status].toLocaleString('en')}</strong>
          <em>{words.today[word]}</em>
        </Link>
      ))}
    </div>
  );
}
