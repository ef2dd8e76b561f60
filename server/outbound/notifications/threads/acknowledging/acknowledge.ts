import type { Revision, ThreadRow } from '../types.ts';

/** Somebody takes a thread over. Pure. */

/** Who does it. `target`: somebody who reads an address of the team and followed the link there. */
export interface Taker {
  kind: 'user' | 'api_key' | 'target';
  id: string;
}

export interface TakenOver {
  thread: ThreadRow;
  /** What those who were told hear of it; undefined when nobody was told, or the same one has it already. */
  revision: Revision | undefined;
}

/**
 * Stops reminders and escalation, not the end.
 * @param thread an open one
 * @param until when nobody has it any more, milliseconds since 1970; null: until its end
 */
export function takeOver(thread: ThreadRow, by: Taker, until: number | null, now: number): TakenOver {
  const isNews = !isTakenBy(thread, by) && thread.told_at !== null;
  const taken = {
    ...thread,
    revision: thread.revision + (isNews ? 1 : 0),
    acknowledged_at: now,
    acknowledged_by: by.id,
    acknowledged_by_kind: by.kind,
    acknowledged_until: until,
    escalate_at: null,
    // What it has to tell is told when it was to be told.
    flush_at: thread.pending === null && thread.parent_id === null ? until : thread.flush_at,
    updated_at: now,
  };
  return { thread: taken, revision: isNews ? { thread: taken, kind: 'acknowledged', withheld: null } : undefined };
}

function isTakenBy(thread: ThreadRow, { kind, id }: Taker): boolean {
  return thread.acknowledged_at !== null && thread.acknowledged_by_kind === kind && thread.acknowledged_by === id;
}
