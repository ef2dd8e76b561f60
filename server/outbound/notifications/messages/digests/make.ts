import { newId } from '../../../../platform/core/ids.ts';
import type { Tx } from '../../../../platform/storage/db.ts';
import { newThread } from '../../threads/new-thread.ts';
import type { Revision, ThreadRow } from '../../threads/types.ts';
import { DIGEST } from '../types.ts';
import { rowOf } from '../writing/rows.ts';
import type { WritingDeps } from '../writing/rows.ts';
import { insertMessages, insertThreads, lockTeam, markDigested, selectDigestReaders, selectWaiting } from './store.ts';

/** People of one transaction. */
const AT_ONCE = 50;
/** What was held in quiet hours is looked at within seconds after their end; nothing keeps a digest waiting for longer. */
const HELD_WITHIN_MS = 5 * 60_000;

/**
 * Makes the digests of a team that are due: one message for each person, by the channel that they have chosen for themselves. What stands in
 * one is marked in the same transaction: a crash repeats nothing and loses nothing. @returns how many it made
 */
export async function makeDigests(deps: WritingDeps, tx: Tx, teamId: string, now: number): Promise<number> {
  await lockTeam(tx, teamId);
  const readers = await selectDigestReaders(tx, teamId, { now, since: now - HELD_WITHIN_MS, limit: AT_ONCE });
  for (const userId of readers) await makeDigest(deps, tx, { teamId, userId }, now);
  return readers.length;
}

async function makeDigest(
  { addresses, channels }: WritingDeps,
  tx: Tx,
  { teamId, userId }: { teamId: string; userId: string },
  now: number,
): Promise<void> {
  const waiting = await selectWaiting(tx, teamId, userId, now);
  const [first] = waiting;
  if (!first) return;
  const groupId = first.group_id;
  const threads = new Set(waiting.map(({ thread_id: id }) => id));
  const thread: ThreadRow = {
    ...newThread({ id: newId(now), teamId, groupId, key: `${DIGEST}:${userId}`, kind: DIGEST, now }),
    state: 'ended',
    first_at: first.created_at,
    item_count: threads.size,
    revision: 1,
    told_at: now,
    closed_at: now,
  };
  const revision: Revision = { thread, kind: DIGEST, withheld: null };
  const group = { id: '', recipients: [userId], notifiables: [], targets: [] };
  const [planned = []] = await addresses.plan(tx, teamId, [{ group, topicIds: [], byAnyWay: true }]);
  await insertThreads(tx, [thread]);
  await insertMessages(
    tx,
    planned.map((one) => rowOf(one, { revision, groupId, teamId, channels, now })),
  );
  await markDigested(tx, teamId, userId, thread.id, now);
}
