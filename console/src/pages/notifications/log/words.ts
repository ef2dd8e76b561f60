import type { Notification, NotificationThread } from '../../../../../client/browser.ts';
import { shortTime } from '../../../parts/times.ts';
import type { Work } from '../../../parts/work.ts';
import { sendErrorWords } from '../words.ts';

export const words = {
  message: {
    to: 'To',
    by: (channel: string) => `by ${channel}`,
    inGroup: (group: string) => `in ${group}`,
    state: 'State',
    subject: 'Message',
    timeOf: (city: string) => `${city} time`,
    kind: 'Kind',
    when: 'When',
    again: ', again {time}',
    person: 'a person',
    left: 'somebody who has left',
    removedChannel: 'a removed channel',
  },
  log: {
    note: 'Who was told of what, and who was not, each with its reason. A message that was sent was taken by its provider. Providers of text messages and WhatsApp may say later that it was delivered; whether somebody read it, only WhatsApp says. Times are those of your zone; a text that was sent stands as its reader got it, and names its zone where that is another.',
    names: 'Names of people, channels and groups',
    label: 'Messages',
    to: 'To',
    everybody: 'everybody',
    group: 'Group',
    everyGroup: 'every group',
    state: 'State',
    any: 'any',
    count: (count: number, isExact: boolean) => `${isExact ? '' : 'over '}{count} ${count === 1 ? 'message' : 'messages'}`,
    noMatch: 'No message matches.',
    empty: 'Nothing has happened that a group is told of.',
    emptyText: 'Outages, failed jobs and whatever else groups follow are listed here, with everybody who was told.',
  },
  /** States of messages, as a choice. */
  state: {
    sent: 'sent',
    pending: 'waiting',
    held: 'held until quiet hours or a mute end',
    withheld: 'not sent by a decision',
    superseded: 'replaced by a newer one',
    failed: 'given up',
  },
  threads: {
    note: 'What has one cause is one thread of a group: it opens, changes and ends, and is told once each time. A thread can be part of a larger one, such as that of its agent, of its site, or of many at once: then only the larger one is told.',
    label: 'Threads',
    filter: 'State',
    open: 'Open',
    closed: 'Over',
    all: 'All',
    count: (count: number) => (count === 1 ? '{count} thread' : '{count} threads'),
    state: 'State',
    what: 'What',
    group: 'Group',
    records: 'Records',
    openOf: (open: number, all: number) => `${open} of ${all} open`,
    began: 'Began',
    told: 'Told last',
    never: 'never',
    noneOpen: 'Nothing is open that a group follows.',
    none: 'No thread yet: nothing has happened that a group follows.',
  },
  thread: {
    missing: 'thread',
    threads: 'Threads',
    take: 'Take it over',
    who: 'Who was told',
    whoSmall: 'newest first',
    what: 'What is in it',
    count: (open: number, all: number, shown: number) =>
      `${all === 1 ? 'one record' : `${all} records`}${open > 0 && open < all ? `, ${open} open` : ''}${shown < all ? `, the first ${shown} shown` : ''}`,
    of: '{state} for the group {group}.',
    story: ({ isOver, isTold, isTaken }: { isOver: boolean; isTold: boolean; isTaken: boolean }) =>
      `Began {opened}${isOver ? ', over {closed}' : ''}, ${isTold ? 'told last {told}' : 'never told'}${isTaken ? ', taken over by {taker} {taken}' : ''}.`,
    parent: 'The larger thread that tells of it',
    topics: (count: number) =>
      count === 1 ? 'The group follows it by the topic {topics}.' : 'The group follows it by the topics {topics}.',
    followed: (group: string) => `in the group ${group}, which is told when nobody takes it over`,
    names: 'Names of people',
    label: 'Messages',
    nothing: 'Nothing is kept of it any more.',
    item: { open: '{what}, {opened}', over: '{what}, {opened} to {closed}' },
  },
  take: {
    title: 'Take this over?',
    act: 'I take it over',
    about:
      'Nobody is reminded of it any more, and no other group is told. Those who were told hear that you have it. Its end is told as ever.',
  },
  explain: {
    note: 'Who would be told if this happened, by which way, and why the others would not. Nothing is sent. What really happened is in the log.',
    what: 'The answer',
    if: 'If',
    at: 'at',
    noSite: 'no site',
    on: 'on',
    now: 'now',
    zone: (zone: string) => `in the time zone ${zone}`,
    nobody: 'Nobody would be told of it.',
    told: (count: number) => (count === 1 ? 'One address would be told of it.' : `${count} addresses would be told of it.`),
    by: (channel: string) => `by ${channel}`,
    empty: 'The group names nobody.',
    others: 'Not these groups',
    sites: 'Groups with sites hear only of these. Choose a router to see who hears of its site.',
    until: '{reason}, until {time}',
    left: 'somebody who has left',
    removedChannel: 'a removed channel',
    outcome: { sent: 'is told', held: 'is told later', withheld: 'is not told' },
  },
};

const REASONS: Record<string, string> = {
  muted: 'the group was muted',
  silenced: 'a silence covered it',
  quiet_hours: 'until the end of their quiet hours',
  over_in_quiet_hours: 'it began and ended in their quiet hours',
  other_kinds: 'the group follows other topics',
  other_sites: 'the group follows other sites',
  over_before_told: 'it was over before it was to be told',
  in_other_thread: 'a larger thread told of it',
  flapping: 'it comes and goes, which was told already',
  no_address: 'they have no address for this channel',
  unverified: 'the address is not confirmed',
  off: 'the address is switched off',
  unsubscribed: 'they have left this',
  duplicate: 'another line of the group leads to the same address',
  unreadable: 'the stored address cannot be decrypted; it has to be entered again',
  channel_unavailable: 'the operator has not configured this channel',
  acknowledged: 'somebody had taken it over',
  group_deleted: 'the group was deleted',
  digest: 'it stands in their digest',
  budget: 'they have had as many messages in this hour as one person gets',
  fallback: 'another way, because the first one does not work',
  expired: 'it could not be sent in the time in which it is of use',
  provider_wait: 'the provider has asked to wait, refuses the account, or cannot be reached',
  undelivered: 'the provider took it and could not deliver it',
  no_account: 'nothing arrives at this number',
  no_group: 'no group follows it',
};

/** Why a message was not sent: the stable words of docs/notifications.md, otherwise what went wrong with the last attempt. */
export function reasonWords(reason: string): string {
  return REASONS[reason] ?? sendErrorWords(reason);
}

const NOW: Record<string, string> = { muted: 'the group is muted', silenced: 'a silence covers it' };

/** Why a message would not be sent. */
export function wouldBeWords(reason: string): string {
  return NOW[reason] ?? reasonWords(reason);
}

interface StateWords {
  work: Work;
  word: string;
  why: string;
}

/** What became of a message, as a lamp shows it. */
export function stateWords(message: MessageNow): StateWords {
  const { state, reason, attempts } = message;
  const last = attempts.at(-1);
  const why = reason === null ? '' : reasonWords(reason);
  switch (state) {
    case 'sent':
      return { work: 'done', word: arrivalWords(message), why: '' };
    case 'pending':
      return { work: 'waiting', word: 'waits', why: last?.error ? `tried ${times(attempts.length)}: ${sendErrorWords(last.error)}` : why };
    case 'held':
      // Until the end of somebody's quiet hours, or of a mute of the group.
      return { work: 'waiting', word: 'held', why };
    case 'withheld':
      return { work: 'skipped', word: 'not sent', why };
    case 'superseded':
      return { work: 'skipped', word: 'replaced', why: 'a newer message says more' };
    case 'failed':
      if (last?.outcome !== 'undelivered') return { work: 'failed', word: 'given up', why };
      // What the provider says follows.
      return { work: 'failed', word: 'not delivered', why: reason === last.error && last.detail ? '' : why };
  }
}

type MessageNow = Pick<Notification, 'state' | 'reason' | 'attempts' | 'delivered_at' | 'read_at'>;

/** How far a message came, as its provider has said: `read 08:40`. */
function arrivalWords({ delivered_at: delivered, read_at: read }: Pick<MessageNow, 'delivered_at' | 'read_at'>): string {
  if (read !== null) return `read ${shortTime(read)}`;
  return delivered === null ? 'sent' : `delivered ${shortTime(delivered)}`;
}

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}

const KINDS: Record<string, string> = {
  open: 'opening',
  update: 'change',
  resolve: 'end',
  reminder: 'reminder',
  still_open: 'still open',
  was_away: 'was away',
  digest: 'digest',
  escalation: 'escalation',
  acknowledged: 'taken over',
  test: 'test',
  held_back: 'how many more',
};

export function kindWords(kind: string): string {
  return KINDS[kind] ?? kind.replaceAll('_', ' ');
}

/** Who has taken a thread over; the interface names people, API keys and targets that are still there. */
export function takerWords({ acknowledged_by: name }: Pick<NotificationThread, 'acknowledged_by'>): string {
  return name ?? 'somebody who is gone';
}

type ThreadNow = Pick<
  NotificationThread,
  'state' | 'acknowledged_at' | 'flapping' | 'muted' | 'silenced_until' | 'parent_id' | 'told_at' | 'closed_at'
>;

/** How a thread is now, as a lamp shows it. */
export function threadState({ state, flapping, muted, ...thread }: ThreadNow): StateWords {
  const { acknowledged_at: taken, silenced_until: silencedUntil, parent_id: parent } = thread;
  if (state === 'closed') return { work: 'done', word: 'over', why: '' };
  const why = [
    ...(taken === null ? [] : ['taken over']),
    ...(flapping ? ['comes and goes'] : []),
    ...(muted ? ['the group is muted'] : []),
    ...(silencedUntil === null ? [] : [`silent until ${shortTime(silencedUntil)}`]),
    ...(parent === null ? [] : ['told with a larger thread']),
  ];
  return { work: taken === null ? 'failed' : 'running', word: 'open', why: why.join(', ') };
}

/** Why no message was written for a thread, or none yet. */
export function untoldWords(thread: ThreadNow): string {
  const { parent_id: parent, silenced_until: until, muted, told_at: toldAt, closed_at: closedAt } = thread;
  if (parent !== null) return 'Nobody: a larger thread, which stands for this one and others, tells of it.';
  if (until !== null) return `Nobody yet: a silence holds until ${shortTime(until)}. What is open then is told.`;
  if (muted) return 'Nobody yet: the group is muted. What is open when that ends is told.';
  if (toldAt !== null) return 'Nobody: the group named nobody when it was told.';
  // What has no end, such as a reboot, is `closed` from its beginning; it has a closing time only when nothing more is told of it.
  if (closedAt !== null) return 'Nobody: it was over before it was to be told.';
  return 'Nobody yet: it waits until nothing new has come for a few seconds.';
}
