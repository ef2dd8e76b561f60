import '../../settings/settings.css';
import '../notifications.css';
import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import type { Notification, NotificationThreadWithItems } from '../../../../../client/browser.ts';
import { useList } from '../../../data/use-list.ts';
import { useRecord } from '../../../data/use-record.ts';
import { AppLink } from '../../../parts/app-link.tsx';
import { fill } from '../../../parts/fill.tsx';
import { MissingRecord } from '../../../parts/missing.tsx';
import { Moment } from '../../../parts/moment.tsx';
import { PageHead } from '../../../parts/page-head.tsx';
import { Reading, ReadingFailed } from '../../../parts/reading.tsx';
import { Section } from '../../../parts/section.tsx';
import { ShortTable } from '../../../parts/short-table.tsx';
import { zoneOfTexts } from '../../../parts/times.ts';
import { useMay } from '../../../session/use-may.ts';
import { useNames } from '../directory.ts';
import { eventWords } from '../topics/kinds.ts';
import { listed, upper } from '../words.ts';
import { topicsOf } from './followed.ts';
import { KIND_COLUMN, OtherZone, STATE_COLUMN, SUBJECT_COLUMN, TIME_COLUMN, whoColumn } from './message-columns.tsx';
import { TakeOver } from './take-over.tsx';
import { ThreadState } from './threads-page.tsx';
import { MESSAGES, THREADS } from '../../../data/fleet.ts';
import { takerWords, untoldWords, words } from './words.ts';

/** One thread: what is in it, and everybody who was told of it or not, with the reason. */
export function ThreadPage() {
  const { threadId } = useParams({ from: '/notifications/threads/$threadId' });
  const { data: thread, error } = useRecord(THREADS, 'getThread', { path: { thread_id: threadId }, query: zoneOfTexts() });
  const mayTake = useMay('operator');
  const [isTaking, setTaking] = useState(false);
  if (!thread)
    return error ? (
      <MissingRecord error={error} what={words.thread.missing} list={{ href: '/notifications/threads', name: words.thread.threads }} />
    ) : (
      <Reading />
    );
  return (
    <>
      <PageHead
        crumb={<Link to="/notifications/threads">{words.thread.threads}</Link>}
        title={thread.subject}
        note={<Story thread={thread} />}
        actions={
          mayTake && thread.state === 'open' && thread.acknowledged_at === null ? (
            <button type="button" className="btn main-act" onClick={() => setTaking(true)}>
              {words.thread.take}
            </button>
          ) : undefined
        }
      />
      <div className="sections">
        <Section title={words.thread.who} small={words.thread.whoSmall}>
          <Messages thread={thread} />
        </Section>
        <Section title={words.thread.what} small={words.thread.count(thread.open_count, thread.item_count, thread.items.length)}>
          <Items thread={thread} />
        </Section>
      </div>
      {isTaking ? <TakeOver thread={thread} onClose={() => setTaking(false)} /> : null}
    </>
  );
}

function Story({ thread }: { thread: NotificationThreadWithItems }) {
  const { opened_at: opened, closed_at: closed, told_at: told, acknowledged_at: taken, parent_id: parent } = thread;
  return (
    <>
      {fill(words.thread.of, {
        state: <ThreadState thread={thread} />,
        group: (
          <Link to="/notifications/groups/$groupId" params={{ groupId: thread.group_id }} className="under">
            {thread.group}
          </Link>
        ),
      })}{' '}
      {fill(words.thread.story({ isOver: closed !== null, isTold: told !== null, isTaken: taken !== null }), {
        opened: <Moment at={opened} />,
        closed: <Moment at={closed} />,
        told: <Moment at={told} />,
        taker: takerWords(thread),
        taken: <Moment at={taken} />,
      })}{' '}
      <Followed thread={thread} />{' '}
      {parent === null ? null : (
        <Link to="/notifications/threads/$threadId" params={{ threadId: parent }} className="under">
          {words.thread.parent}
        </Link>
      )}
    </>
  );
}

/** By which topics its group hears of it, as they are now. Nothing where none of them is known to have it, as for a test. */
function Followed({ thread }: { thread: NotificationThreadWithItems }) {
  const { names } = useNames();
  const topics = names === undefined ? [] : topicsOf(thread, names);
  if (topics.length === 0) return null;
  return fill(words.thread.topics(topics.length), {
    topics: (
      <Link to="/notifications/topics" className="under">
        {listed(topics)}
      </Link>
    ),
  });
}

function Messages({ thread }: { thread: NotificationThreadWithItems }) {
  const list = useList(MESSAGES, 'listThreadMessages', { path: { thread_id: thread.id }, query: { limit: 100, ...zoneOfTexts() } });
  const { names, error } = useNames();
  return (
    <>
      {names === undefined && error ? <ReadingFailed error={error} what={words.thread.names} /> : null}
      <ShortTable<Notification>
        label={words.thread.label}
        list={list}
        keyOf={({ id }) => id}
        columns={[
          whoColumn(names, thread.group_id),
          { ...SUBJECT_COLUMN, cell: (message) => <Said message={message} /> },
          KIND_COLUMN,
          TIME_COLUMN,
          STATE_COLUMN,
        ]}
        empty={untoldWords(thread)}
      />
    </>
  );
}

function Said({ message }: { message: Notification }) {
  return (
    <>
      <span className="el" title={message.subject}>
        {message.subject}
      </span>
      <OtherZone message={message} />
    </>
  );
}

function Items({ thread: { items } }: { thread: NotificationThreadWithItems }) {
  if (items.length === 0) return <p className="empty">{words.thread.nothing}</p>;
  return (
    <ul className="names">
      {items.map((item) => (
        <li key={item.id}>
          <Name item={item} />{' '}
          <span className="dim">
            {fill(item.closed_at === null ? words.thread.item.open : words.thread.item.over, {
              what: item.detail === '' ? upper(eventWords(item.kind)) : item.detail,
              opened: <Moment at={item.opened_at} />,
              closed: <Moment at={item.closed_at} />,
            })}
          </span>
        </li>
      ))}
    </ul>
  );
}

type Item = NotificationThreadWithItems['items'][number];

function Name({ item }: { item: Item }) {
  const href = hrefOf(item);
  if (href === undefined) return <b>{item.name}</b>;
  return (
    <AppLink href={href} className="b id">
      {item.name}
    </AppLink>
  );
}

function hrefOf({ id, type, router_id: routerId, agent_id: agentId, site_id: siteId }: Item): string | undefined {
  if (type === 'thread') return `/notifications/threads/${id}`;
  if (routerId !== null) return `/routers/${routerId}`;
  if (agentId !== null) return `/agents/${agentId}`;
  return siteId === null ? undefined : `/sites/${siteId}`;
}
