import { newId } from '../../../../platform/core/ids.ts';
import type { Tx } from '../../../../platform/storage/db.ts';
import type { CampaignOf } from '../match.ts';
import type { ThreadRow } from '../types.ts';
import { releaseToOpen } from '../telling/store.ts';
import { FLAP_WINDOW_MS, STILL_NEW_MS } from '../timing.ts';
import { hearing, keysOf, routeNotices, stormKeysOf, takeFew } from './batch.ts';
import { isSettling, settleTogether, troubleOf } from './settle.ts';
import {
  insertThreads,
  lockTeam,
  markRouted,
  selectItems,
  selectListeners,
  selectSettling,
  selectOpenThreads,
  selectPlaces,
  selectSilenced,
  selectToldAfter,
  selectUnrouted,
  updateThreads,
  upsertItems,
} from './store.ts';

/** Threads that one transaction may change: notices times groups. About 50 ms on SQLite. */
export const ROUTED_AT_ONCE = 500;

/** What one transaction has done. */
export interface Routed {
  /** Notices that it took. */
  notices: number;
  /** Threads that it made or changed: no group may follow what has happened. */
  threads: number;
}

/**
 * Gives the next notices of a team to the threads of its groups, and marks them, in the same transaction: a crash repeats nothing and loses
 * nothing.
 */
export async function routeSome(
  tx: Tx,
  teamId: string,
  { campaignOf, afterAgentMs }: { campaignOf: CampaignOf; afterAgentMs: number },
  now: number,
): Promise<Routed> {
  // Two processes take turns.
  await lockTeam(tx, teamId);
  const listeners = await selectListeners(tx, teamId);
  const waiting = await selectUnrouted(tx, teamId, ROUTED_AT_ONCE);
  if (waiting.length === 0) return { notices: 0, threads: 0 };
  const places = await selectPlaces(tx, teamId, waiting);
  const notices = takeFew(waiting, (notice) => hearing(listeners, notice, places.get(notice.id)!), ROUTED_AT_ONCE);
  const ofNotices = notices.flatMap((notice) => keysOf(notice, places.get(notice.id)!, listeners, campaignOf));
  const keys = new Set([...ofNotices, ...stormKeysOf(listeners)]);
  const threads = await selectOpenThreads(tx, teamId, [...keys]);
  const items = await selectItems(
    tx,
    teamId,
    threads.map(({ id }) => id),
    [...new Set(notices.map(({ record_id: id }) => id))],
  );
  const facts = notices.map(({ id, router_id: routerId, agent_id: agentId }) => ({
    id,
    routerId,
    siteId: places.get(id)!.siteId,
    agentId: routerId === null ? agentId : null,
  }));
  const silenced = new Set((await selectSilenced(tx, teamId, facts, now)).keys());
  const known = { listeners, places, threads, items, campaignOf, silenced, newId: () => newId(now), now };
  const routed = routeNotices(notices, known);
  // Parents first: threads refer to them.
  await insertThreads(tx, routed.added);
  await updateThreads(tx, routed.changed);
  // Routers whose agent is back are told if they still do not answer after a while.
  await releaseToOpen(tx, teamId, endedAgents(routed.changed), { openAt: now + afterAgentMs, closeAt: now + FLAP_WINDOW_MS });
  await upsertItems(tx, routed.items);
  await settle(tx, teamId, [...routed.added, ...routed.changed], now);
  const ids = notices.map(({ id }) => id);
  await markRouted(tx, teamId, ids, now);
  return { notices: notices.length, threads: routed.added.length + routed.changed.length };
}

function endedAgents(threads: readonly ThreadRow[]): string[] {
  return threads.filter(({ key, state }) => key.startsWith('agent:') && state === 'ended').map(({ id }) => id);
}

async function settle(tx: Tx, teamId: string, threads: readonly ThreadRow[], now: number): Promise<void> {
  const groups = [...new Set(threads.filter(isSettling).map(({ group_id: id }) => id))];
  if (groups.length === 0) return;
  const waiting = await selectSettling(tx, teamId, groups);
  const kinds = [...new Set(waiting.flatMap((thread) => (troubleOf(thread) === undefined ? [] : [thread.kind])))];
  const told = kinds.length === 0 ? [] : await selectToldAfter(tx, teamId, { groupIds: groups, kinds }, now - STILL_NEW_MS);
  await updateThreads(tx, settleTogether(waiting, told, now));
}
