import { useParams } from '@tanstack/react-router';
import type { Job } from '../../../../../../client/browser.ts';
import { useList } from '../../../../data/use-list.ts';
import { AppLink } from '../../../../parts/app-link.tsx';
import { Moment } from '../../../../parts/moment.tsx';
import { RecordTable } from '../../../../parts/record-table.tsx';
import type { Column } from '../../../../parts/record-table.tsx';
import { WorkState } from '../../../../parts/work-lamp.tsx';
import { endOf, reasonWords, workOf } from '../../../work/words.ts';

/** The jobs of one router, newest first. */
export function JobsTab() {
  const { routerId } = useParams({ from: '/routers/$routerId' });
  const list = useList('jobs', 'listJobs', { path: { router_id: routerId }, query: { limit: 100 } });
  const columns: readonly Column<Job>[] = [
    {
      title: 'Job',
      width: 'minmax(160px, 2fr)',
      className: 'el',
      cell: ({ id, description }) => (
        <AppLink href={`/jobs/${routerId}/${id}`} className="b">
          {description === '' ? id : description}
        </AppLink>
      ),
    },
    {
      title: 'Result',
      width: 'minmax(110px, 1fr)',
      className: 'el',
      cell: (job) => <WorkState work={workOf(job)} why={reasonWords(workOf(job) === 'rolled_back' ? null : job.reason)} />,
    },
    { title: 'Made', width: '90px', className: 'dim', cell: ({ created_at: at }) => <Moment at={at} /> },
    { title: 'Ended', width: '90px', className: 'num dim', cell: (job) => <Moment at={endOf(job)} /> },
  ];
  return (
    <div className="tab-body">
      <RecordTable label="Jobs of this router" columns={columns} list={list} keyOf={({ id }) => id} empty={NONE} />
    </div>
  );
}

const NONE = 'Scripts that were sent to this router would be here, with what each of them answered.';
