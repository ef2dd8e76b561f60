import type { ThreadRow } from '../../threads/types.ts';
import type { MessageRow } from '../types.ts';

/** Whether what did not arrive still helps somebody. Pure. */

const ENDS = new Set(['resolve', 'was_away']);
const CALLS = new Set(['reminder', 'escalation']);

/** @param thread as it is now */
export function isStillOfUse(
  { kind }: Pick<MessageRow, 'kind'>,
  thread: Pick<ThreadRow, 'state' | 'ended_at' | 'acknowledged_at'>,
): boolean {
  // What has no end, such as a reboot, is never over.
  const isOver = thread.state !== 'open' && thread.ended_at !== null;
  if (isOver) return ENDS.has(kind);
  return !CALLS.has(kind) || thread.acknowledged_at === null;
}
