import { Link } from '@tanstack/react-router';
import type { Notification } from '../../../../../client/browser.ts';
import { fill } from '../../../parts/fill.tsx';
import { Moment } from '../../../parts/moment.tsx';
import type { Column } from '../../../parts/record-table.tsx';
import { cityOf, isOtherTime } from '../../../parts/times.ts';
import { WorkLamp, workClass } from '../../../parts/work-lamp.tsx';
import type { Names } from '../sentence.ts';
import { channelName } from '../words.ts';
import { kindWords, stateWords, words } from './words.ts';

/** Who was told: a person by name, or a channel of the team. @param names undefined: not read yet, so nobody is called somebody who has left */
export function receiverOf({ user_id: userId, target }: Notification, names: Names | undefined): string {
  if (userId !== null && names === undefined) return words.message.person;
  if (userId !== null) return names?.members.get(userId)?.email ?? words.message.left;
  return target ?? words.message.removedChannel;
}

/** @param ofGroup of the thread: that a message is of another one is said */
export function whoColumn(names: Names | undefined, ofGroup?: string): Column<Notification> {
  return {
    title: words.message.to,
    width: 'minmax(140px, 1fr)',
    className: 'el',
    cell: (message) => (
      <span title={message.address ?? undefined}>
        <b>{receiverOf(message, names)}</b> <span className="dim">{words.message.by(channelName(message.channel))}</span>
        {ofGroup === undefined || ofGroup === message.group_id || message.group === '' ? null : (
          <span className="dim" title={words.thread.followed(message.group)}>
            {' '}
            {words.message.inGroup(message.group)}
          </span>
        )}
      </span>
    ),
  };
}

export const STATE_COLUMN: Column<Notification> = {
  title: words.message.state,
  width: 'minmax(190px, 1.4fr)',
  className: 'wrap',
  cell: (message) => <MessageState message={message} />,
};

export const SUBJECT_COLUMN: Column<Notification> = {
  title: words.message.subject,
  width: 'minmax(180px, 2fr)',
  className: 'said-text',
  cell: (message) => (
    <>
      <Link to="/notifications/threads/$threadId" params={{ threadId: message.thread_id }} className="hand el" title={message.subject}>
        {message.subject}
      </Link>
      <OtherZone message={message} />
    </>
  ),
};

/** Of a text whose times are not those of the page: what was sent stays as its reader got it. */
export function OtherZone({ message }: { message: Notification }) {
  const { subject_time_zone: zone, settled_at: settled, created_at: created } = message;
  if (zone === null || !isOtherTime(zone, settled ?? created)) return null;
  return (
    <span className="dim t2" title={zone}>
      {' '}
      {words.message.timeOf(cityOf(zone))}
    </span>
  );
}

export const KIND_COLUMN: Column<Notification> = {
  title: words.message.kind,
  width: '90px',
  className: 'dim',
  isWide: true,
  cell: ({ kind }) => kindWords(kind),
};

export const TIME_COLUMN: Column<Notification> = {
  title: words.message.when,
  width: '80px',
  className: 'dim',
  cell: ({ settled_at: settled, created_at: created }) => <Moment at={settled ?? created} />,
};

/** What became of a message, why, and the last words of its provider. */
export function MessageState({ message }: { message: Notification }) {
  const { work, word, why } = stateWords(message);
  const last = message.attempts.at(-1);
  const detail = message.state === 'sent' || last?.detail === null || last?.detail === undefined ? '' : last.detail;
  return (
    <span title={detail === '' ? undefined : detail}>
      <span className="lamp">
        <WorkLamp work={work} />
        <span className={work === 'done' || work === 'skipped' ? 'dim' : `${workClass(work)} b`}>{word}</span>
      </span>
      {why === '' ? null : <span className="dim">, {why}</span>}
      {detail === '' ? null : <span className="dim">: {detail}</span>}
      {message.state === 'pending' && message.next_attempt_at !== null && message.attempts.length > 0 ? (
        <span className="dim">{fill(words.message.again, { time: <Moment at={message.next_attempt_at} /> })}</span>
      ) : null}
    </span>
  );
}
