import { useParams } from '@tanstack/react-router';
import type { Job } from '../../../../../../client/browser.ts';
import { useList } from '../../../../data/use-list.ts';
import { AppLink } from '../../../../parts/app-link.tsx';
import { Moment } from '../../../../parts/moment.tsx';
import { RecordTable } from '../../../../parts/record-table.tsx';
import type { Column } from '../../../../parts/record-table.tsx';
import { wordOf } from '../../../../parts/state-words.ts';

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
      title: 'Status',
      width: 'minmax(110px, 1fr)',
      className: 'el',
      cell: ({ status, reason }) => (
        <>
          <span className={status === 'failed' ? 'c-not b' : ''}>{wordOf(status)}</span>
          {reason === null ? null : <span className="dim">, {wordOf(reason)}</span>}
        </>
      ),
    },
    { title: 'Made', width: '90px', className: 'num dim', isWide: true, cell: ({ created_at: at }) => <Moment at={at} /> },
    {
      title: 'Ended',
      width: '90px',
      className: 'num dim',
      isWide: true,
      cell: (job) => <Moment at={job.completed_at ?? job.failed_at ?? job.deleted_at} />,
    },
  ];
  return (
    <div className="tab-body">
      <RecordTable label="Jobs of this router" columns={columns} list={list} keyOf={({ id }) => id} empty={NONE} />
    </div>
  );
}

const NONE = 'Scripts that were sent to this router would be here, with what each of them answered.';
