import { isStorm, likenessOf, severalKey } from '../gather.ts';
import type { Likeness } from '../gather.ts';
import { withKindsOf, worst } from '../apply.ts';
import { newThread } from '../new-thread.ts';
import { UPDATE_EVERY_MS } from '../timing.ts';
import type { ThreadRow } from '../types.ts';
import { rest } from './decide.ts';
import type { GroupResult } from './result.ts';
import type { GroupState } from './state.ts';
import { tell } from './told.ts';

/**
 * What happened and is over at once, of one kind: many are one message, and the next ones wait until another one is due. Pure.
 * @returns the threads that are told by another, or wait
 */
export function gatherMoments(state: GroupState, due: readonly ThreadRow[], result: GroupResult): Set<string> {
  const { groupId, parents, now } = state;
  const gathered = new Set<string>();
  for (const [likeness, threads] of Map.groupBy(due, likenessOf)) {
    if (likeness === undefined) continue;
    const known = parents.find(({ key }) => key === severalKey(groupId, likeness));
    const next = known?.told_at ? known.told_at + UPDATE_EVERY_MS : now;
    if (next > now) for (const thread of threads) result.put({ ...thread, flush_at: next });
    else if (isStorm(threads)) tellSeveral(state, { likeness, known }, threads, result);
    else continue;
    for (const { id } of threads) gathered.add(id);
  }
  return gathered;
}

/**
 * They are told by a thread that has no end, and are done with it. What follows is another thread: a message is written when it is sent, and one
 * that waits for a mail server still says what it was to say.
 */
function tellSeveral(
  { teamId, groupId, newId, now }: GroupState,
  { likeness, known }: { likeness: Likeness; known: ThreadRow | undefined },
  threads: readonly ThreadRow[],
  result: GroupResult,
): void {
  const parent: ThreadRow = {
    ...newThread({ id: newId(), teamId, groupId, key: severalKey(groupId, likeness), kind: 'several', now }),
    state: 'ended',
    severity: worst(threads),
    first_at: Math.min(...threads.map(({ pending_since: since }) => since ?? now)),
    item_count: threads.length,
  };
  if (known) result.replaced.push(known.id);
  result.add(parent);
  for (const thread of threads) result.put({ ...rest(thread, now), told_in: parent.id, flush_at: null, closed_at: now });
  result.tell(tell(rest(withKindsOf(parent, threads), now), 'open', now));
}
