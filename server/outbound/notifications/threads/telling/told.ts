import type { Revision, ThreadRow } from '../types.ts';

/** What comes out when a thread is looked at. */
export interface Told {
  /** As it is to be stored. */
  thread: ThreadRow;
  revisions: readonly Revision[];
}

export function tell(thread: ThreadRow, kind: Revision['kind'], now: number): Told {
  const told = {
    ...thread,
    revision: thread.revision + 1,
    told_at: now,
    told_count: thread.open_count,
    silenced_until: null,
    updated_at: now,
  };
  return { thread: told, revisions: [{ thread: told, kind, withheld: null }] };
}

export function withhold(thread: ThreadRow, kind: Revision['kind'], withheld: NonNullable<Revision['withheld']>): Told {
  return { thread, revisions: [{ thread, kind, withheld }] };
}

export function silently(thread: ThreadRow): Told {
  return { thread, revisions: [] };
}
