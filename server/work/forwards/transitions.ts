import { insertNotices } from '../../platform/notices/store.ts';
import type { Tx } from '../../platform/storage/db.ts';
import { forwardNotice } from './notices.ts';
import { closeAllForwards, closeForward, markAuthorized, markNoPort, markNoWay, selectWay } from './store.ts';
import type { ForwardKey, WayFound } from './store.ts';
import type { ForwardRecord } from './types.ts';

/** Transitions of forwards with their notices: call them inside a write. Undefined: the condition did not hold, and nothing was changed. */

/** The agent has opened the way, perhaps again. */
export async function findWay(tx: Tx, key: ForwardKey, found: WayFound, now: number): Promise<ForwardRecord | undefined> {
  const before = await selectWay(tx, key);
  const record = await markAuthorized(tx, key, found);
  // Before the first attempt there is no reason.
  const wasWithout = before?.way === null && before.way_reason !== null;
  if (record && wasWithout && found.authorizedAt !== null) await insertNotices(tx, [forwardNotice(record, 'found', now)], now);
  return record;
}

/** The agent could not open the way, or lost it. `refused`: its rules forbid the target. */
export async function loseWay(tx: Tx, key: ForwardKey, reason: string, now: number, refused = false): Promise<ForwardRecord | undefined> {
  return withLoss(tx, key, now, () => markNoWay(tx, key, reason, refused));
}

/** The port can no longer be opened. */
export async function losePort(tx: Tx, key: ForwardKey, reason: string, now: number): Promise<ForwardRecord | undefined> {
  return withLoss(tx, key, now, () => markNoPort(tx, key, reason));
}

/** Only a forward that had a way has lost one. */
async function withLoss(
  tx: Tx,
  key: ForwardKey,
  now: number,
  lose: () => Promise<ForwardRecord | undefined>,
): Promise<ForwardRecord | undefined> {
  const before = await selectWay(tx, key);
  const record = await lose();
  if (record && before && before.way !== null) await insertNotices(tx, [forwardNotice(record, 'lost', now)], now);
  return record;
}

export async function endForward(tx: Tx, key: ForwardKey, now: number, how: 'expired' | 'revoked'): Promise<ForwardRecord | undefined> {
  const closed = await closeForward(tx, key, now, how);
  if (closed) await insertNotices(tx, endNotices(closed, now), now);
  return closed;
}

/** Ends the open forwards of these routers. */
export async function endAllForwards(tx: Tx, teamId: string, routerIds: readonly string[], now: number): Promise<ForwardRecord[]> {
  const closed = await closeAllForwards(tx, teamId, routerIds, now);
  await insertNotices(
    tx,
    closed.flatMap((forward) => endNotices(forward, now)),
    now,
  );
  return closed;
}

/** A forward without a way ends its loss as well. */
function endNotices(forward: ForwardRecord, now: number) {
  const closed = forwardNotice(forward, 'closed', now);
  return forward.way === null ? [forwardNotice(forward, 'found', now), closed] : [closed];
}
