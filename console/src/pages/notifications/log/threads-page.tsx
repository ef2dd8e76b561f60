import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import type { NotificationThread } from '../../../../../client/browser.ts';
import { useList } from '../../../data/use-list.ts';
import { Moment } from '../../../parts/moment.tsx';
import { RecordTable } from '../../../parts/record-table.tsx';
import type { Column } from '../../../parts/record-table.tsx';
import { zoneOfTexts } from '../../../parts/times.ts';
import { WorkLamp, workClass } from '../../../parts/work-lamp.tsx';
import { NotificationsArea } from '../area.tsx';
import { THREADS } from '../../../data/fleet.ts';
import { threadState } from './words.ts';

const CHOICES = [
  { state: 'open', name: 'Open' },
  { state: 'closed', name: 'Over' },
  { state: 'all', name: 'All' },
] as const;

const COLUMNS: readonly Column<NotificationThread>[] = [
  { title: 'State', width: 'minmax(150px, .8fr)', className: 'el', cell: (thread) => <ThreadState thread={thread} /> },
  {
    title: 'What',
    width: 'minmax(200px, 2fr)',
    className: 'el',
    cell: ({ id, subject }) => (
      <Link to="/notifications/threads/$threadId" params={{ threadId: id }} className="b" title={subject}>
        {subject}
      </Link>
    ),
  },
  {
    title: 'Group',
    width: 'minmax(110px, .7fr)',
    className: 'el',
    isWide: true,
    cell: ({ group, group_id: groupId }) => (
      <Link to="/notifications/groups/$groupId" params={{ groupId }} className="hand">
        {group}
      </Link>
    ),
  },
  {
    title: 'Records',
    width: '80px',
    className: 'num dim',
    isWide: true,
    cell: ({ open_count: open, item_count: all }) => (open === 0 || open === all ? all : `${open} of ${all}`),
  },
  { title: 'Began', width: '84px', className: 'num dim', isWide: true, cell: ({ opened_at: at }) => <Moment at={at} /> },
  {
    title: 'Told last',
    width: '84px',
    className: 'num',
    isWide: true,
    cell: ({ told_at: at }) => (at === null ? <span className="faint">never</span> : <Moment at={at} />),
  },
];

/** What groups see as one thing, with everything that has the same cause. */
export function ThreadsPage() {
  const { state = 'open' } = useSearch({ from: '/notifications/threads' });
  const navigate = useNavigate({ from: '/notifications/threads' });
  const list = useList(THREADS, 'listThreads', {
    query: { limit: 100, total: 'true', ...zoneOfTexts(), ...(state === 'all' ? {} : { state }) },
  });
  return (
    <NotificationsArea
      name="Threads"
      note="What has one cause is one thread of a group: it opens, changes and ends, and is told once each time."
      isList
    >
      <div className="filter">
        <span className="seg" role="group" aria-label="State">
          {CHOICES.map((choice) => (
            <button
              key={choice.state}
              type="button"
              className={choice.state === state ? 'on' : ''}
              aria-pressed={choice.state === state}
              onClick={() => void navigate({ search: choice.state === 'open' ? {} : { state: choice.state }, replace: true })}
            >
              {choice.name}
            </button>
          ))}
        </span>
        <span className="count" role="status">
          {list.total === undefined ? null : (
            <>
              <b>{list.total.toLocaleString('en')}</b> {list.total === 1 ? 'thread' : 'threads'}
            </>
          )}
        </span>
      </div>
      <RecordTable<NotificationThread>
        label="Threads"
        columns={COLUMNS}
        list={list}
        keyOf={({ id }) => id}
        empty={state === 'open' ? 'Nothing is open that a group follows.' : 'No thread yet: nothing has happened that a group follows.'}
      />
    </NotificationsArea>
  );
}

export function ThreadState({ thread }: { thread: NotificationThread }) {
  const { work, word, why } = threadState(thread);
  return (
    <span className="lamp">
      <WorkLamp work={work} />
      <span className="el">
        <span className={work === 'done' ? 'dim' : `${workClass(work)} b`}>{word}</span>
        {why === '' ? null : <span className="dim">, {why}</span>}
      </span>
    </span>
  );
}
