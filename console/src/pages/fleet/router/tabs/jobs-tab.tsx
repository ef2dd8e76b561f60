import { useParams } from '@tanstack/react-router';
import type { Job } from '../../../../../../client/browser.ts';
import { useList } from '../../../../data/use-list.ts';
import { AppLink } from '../../../../parts/app-link.tsx';
import { Moment } from '../../../../parts/moment.tsx';
import { RecordTable } from '../../../../parts/record-table.tsx';
import type { Column } from '../../../../parts/record-table.tsx';
import { WorkState } from '../../../../parts/work-lamp.tsx';
import { endOf, reasonWords, workOf } from '../../../work/words.ts';
import { words } from './words.ts';

/** The jobs of one router, newest first. */
export function JobsTab() {
  const { routerId } = useParams({ from: '/routers/$routerId' });
  const list = useList('jobs', 'listJobs', { path: { router_id: routerId }, query: { limit: 100 } });
  const columns: readonly Column<Job>[] = [
    {
      title: words.jobs.columns.job,
      width: 'minmax(160px, 2fr)',
      className: 'el',
      cell: ({ id, description }) => (
        <AppLink href={`/jobs/${routerId}/${id}`} className="b">
          {description === '' ? id : description}
        </AppLink>
      ),
    },
    {
      title: words.jobs.columns.result,
      width: 'minmax(110px, 1fr)',
      className: 'el',
      cell: (job) => <WorkState work={workOf(job)} why={reasonWords(workOf(job) === 'rolled_back' ? null : job.reason)} />,
    },
    { title: words.jobs.columns.made, width: '90px', className: 'dim', cell: ({ created_at: at }) => <Moment at={at} /> },
    { title: words.jobs.columns.ended, width: '90px', className: 'num dim', cell: (job) => <Moment at={endOf(job)} /> },
  ];
  return (
    <div className="tab-body">
      <RecordTable label={words.jobs.label} columns={columns} list={list} keyOf={({ id }) => id} empty={words.jobs.none} />
    </div>
  );
}
