import type { Selectable } from 'kysely';
import type { NoticesTable, ThreadItemsTable, ThreadsTable } from '../../../platform/storage/schema-notices.ts';

export type NoticeRow = Selectable<NoticesTable>;
export type ThreadRow = Selectable<ThreadsTable>;
export type ItemRow = Selectable<ThreadItemsTable>;

/** What a thread has to tell next. */
export const PENDING = [
  /** It has opened. */
  'open',
  /** All of it is over, and the opening was told. */
  'end',
  /** All of it is over before anything was told. */
  'over',
  /** Something that has no end happened. */
  'info',
  /** How many are open has changed: threads that stand for others. */
  'update',
  /** It comes and goes. */
  'flapping',
  /** It came and went, and has stayed as it is for a while. */
  'steady',
] as const;
export type Pending = (typeof PENDING)[number];

/** A thread's message as it is decided, before it is known who gets it. */
export interface Revision {
  thread: ThreadRow;
  kind: 'open' | 'update' | 'resolve' | 'reminder' | 'still_open' | 'escalation' | 'acknowledged' | 'digest' | 'test';
  /** Whom it is for; undefined: the thread's group, and those it was escalated to. */
  groups?: readonly string[];
  /** Why nobody gets it; null when it is told. */
  withheld: 'muted' | 'silenced' | 'over_before_told' | 'in_other_thread' | 'flapping' | null;
}
