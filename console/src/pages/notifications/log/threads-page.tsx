import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import type { NotificationThread } from '../../../../../client/browser.ts';
import { useList } from '../../../data/use-list.ts';
import { fill } from '../../../parts/fill.tsx';
import { Moment } from '../../../parts/moment.tsx';
import { RecordTable } from '../../../parts/record-table.tsx';
import type { Column } from '../../../parts/record-table.tsx';
import { zoneOfTexts } from '../../../parts/times.ts';
import { WorkLamp, workClass } from '../../../parts/work-lamp.tsx';
import { NotificationsArea } from '../area.tsx';
import { THREADS } from '../../../data/fleet.ts';
import { words as areaWords } from '../words.ts';
import { threadState, words } from './words.ts';

const CHOICES = [
  { state: 'open', name: words.threads.open },
  { state: 'closed', name: words.threads.closed },
  { state: 'all', name: words.threads.all },
] as const;

const COLUMNS: readonly Column<NotificationThread>[] = [
  { title: words.threads.state, width: 'minmax(150px, 1.1fr)', className: 'el', cell: (thread) => <ThreadState thread={thread} /> },
  {
    title: words.threads.what,
    width: 'minmax(200px, 2fr)',
    className: 'el',
    cell: ({ id, subject }) => (
      <Link to="/notifications/threads/$threadId" params={{ threadId: id }} className="b" title={subject}>
        {subject}
      </Link>
    ),
  },
  {
    title: words.threads.group,
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
    title: words.threads.records,
    width: '100px',
    className: 'num dim',
    isWide: true,
    cell: ({ open_count: open, item_count: all }) => (open === 0 || open === all ? all : words.threads.openOf(open, all)),
  },
  { title: words.threads.began, width: '84px', className: 'num dim', isWide: true, cell: ({ opened_at: at }) => <Moment at={at} /> },
  {
    title: words.threads.told,
    width: '84px',
    className: 'num',
    isWide: true,
    cell: ({ told_at: at }) => (at === null ? <span className="faint">{words.threads.never}</span> : <Moment at={at} />),
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
    <NotificationsArea name={areaWords.part.threads} note={words.threads.note} isList>
      <div className="filter">
        <span className="seg" role="group" aria-label={words.threads.filter}>
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
          {list.total === undefined ? null : fill(words.threads.count(list.total), { count: <b>{list.total.toLocaleString('en')}</b> })}
        </span>
      </div>
      <RecordTable<NotificationThread>
        label={words.threads.label}
        columns={COLUMNS}
        list={list}
        keyOf={({ id }) => id}
        empty={state === 'open' ? words.threads.noneOpen : words.threads.none}
      />
    </NotificationsArea>
  );
}

export function ThreadState({ thread }: { thread: NotificationThread }) {
  const { work, word, why } = threadState(thread);
  // As critical as it looks, unless it says otherwise.
  const said = [...(work === 'done' || thread.severity === 'critical' ? [] : [thread.severity]), ...(why === '' ? [] : [why])].join(', ');
  return (
    <span className="lamp">
      <WorkLamp work={work} />
      <span title={said === '' ? undefined : `${word}, ${said}`}>
        <span className={work === 'done' ? 'dim' : `${workClass(work)} b`}>{word}</span>
        {said === '' ? null : <span className="dim">, {said}</span>}
      </span>
    </span>
  );
}
