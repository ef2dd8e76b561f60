import type { Among, RecordFilter } from '../../../platform/core/list-page.ts';
import type { AttemptRow, MessageRow } from '../messages/types.ts';
import type { ThreadRow } from '../threads/types.ts';

export interface ThreadFilter extends RecordFilter {
  /** Closed: nothing in it is open. */
  state: 'open' | 'closed' | undefined;
  groupId: string | undefined;
  siteId: string | undefined;
  /** The thread that stands for them. */
  parentId: string | undefined;
  kinds: Among;
}

export interface ListedThread extends ThreadRow {
  /** Name of the group. */
  group: string;
  /** What it is about now, in one line. */
  subject: string;
  /** Who has taken it over: email of the person, name of the key or target. */
  taker: string | null;
}

/** What is in a thread: a record, or a thread that it stands for. */
export interface ListedItem {
  id: string;
  type: 'record' | 'thread';
  kind: string;
  severity: string;
  routerId: string | null;
  agentId: string | null;
  siteId: string | null;
  /** Of the router, agent or site. */
  name: string;
  /** What is wrong, as it was reported. */
  detail: string;
  openedAt: number;
  resolvedAt: number | null;
}

export interface MessageFilter extends RecordFilter {
  /** Id of a person or a target. */
  recipientId: string | undefined;
  groupId: string | undefined;
  states: Among;
  reasons: Among;
  channels: Among;
}

export interface LoggedMessage extends MessageRow {
  /** What it says, or would have said. */
  subject: string;
  /** Of the times in it; null when it has none, or nobody knows. */
  subject_time_zone: string | null;
  /** Name of the group. */
  group: string;
  /** Name of the target; null for a person. */
  target: string | null;
  thread: ThreadRow;
  tries: readonly AttemptRow[];
}
