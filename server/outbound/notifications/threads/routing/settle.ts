import { openingsOf } from '../apply.ts';
import { FOLLOWING, JOBS, OPENING, STILL_NEW_MS } from '../timing.ts';
import type { Settling } from '../timing.ts';
import type { ThreadRow } from '../types.ts';

/** How long threads wait for each other before they are told. Pure. */

/** Threads that wait for each other. */
interface Pool {
  name: string;
  settling: Settling;
}

/** What a group was told by itself: what tells whether it is news of a trouble at a place. */
export type ToldThread = Placed & Pick<ThreadRow, 'told_at' | 'openings'>;
type Placed = Pick<ThreadRow, 'group_id' | 'site_id' | 'router_id' | 'agent_id' | 'kind' | 'key'>;

/**
 * What a group hears together waits for each other: openings, and what happens and is over at once. Until nothing new has come for a moment,
 * and not longer than the first of them may wait. Others of the group that wait already are moved with them. What follows an opening of its
 * place that the group was just told of waits longer, with its like: people know of the trouble, and want to know how far it goes.
 * @param threads those that wait
 * @param told those that were told lately, and are open: also those that wait
 */
export function settleTogether(threads: readonly ThreadRow[], told: readonly ToldThread[], now: number): ThreadRow[] {
  const troubles = troublesOf(told, now);
  const pools = new Map<string, { settling: Settling; waiting: ThreadRow[] }>();
  for (const thread of threads) {
    const pool = poolOf(thread, troubles);
    if (!pool) continue;
    const known = pools.get(pool.name);
    if (known) known.waiting.push(thread);
    else pools.set(pool.name, { settling: pool.settling, waiting: [thread] });
  }
  return [...pools.values()].flatMap(({ settling, waiting }) => settlePool(waiting, settling, now));
}

/** Waits with others of its group. */
export function isSettling(thread: ThreadRow): boolean {
  return poolOf(thread, new Map()) !== undefined;
}

function poolOf(thread: ThreadRow, troubles: ReadonlyMap<string, number>): Pool | undefined {
  const { group_id: groupId, pending, key } = thread;
  if (pending === 'open' || pending === 'flapping') {
    const trouble = troubleOf(thread);
    const told = trouble === undefined ? 0 : (troubles.get(trouble) ?? 0);
    if (told === 0) return { name: `${groupId} opening`, settling: OPENING };
    return { name: `${trouble} following`, settling: FOLLOWING[Math.min(told, FOLLOWING.length) - 1]! };
  }
  if (pending !== 'info' || key.startsWith('campaign:')) return undefined;
  return key.endsWith(':jobs') ? { name: `${groupId} jobs`, settling: JOBS } : { name: `${groupId} moments`, settling: OPENING };
}

/**
 * A kind of fault at a site or, of routers without a site, behind an agent, for a group. Undefined for what lies at several sites, or nowhere: it
 * may be anywhere.
 */
export function troubleOf({
  group_id: groupId,
  site_id: siteId,
  router_id: routerId,
  agent_id: agentId,
  kind,
}: Omit<Placed, 'key'>): string | undefined {
  const place = siteId ?? (routerId === null ? null : agentId);
  return place === null ? undefined : `${groupId} ${place} ${kind}`;
}

/** Those that opened lately: a reminder of what is old is no news. */
export function newsAmong<T extends Pick<ThreadRow, 'openings'>>(told: readonly T[], now: number): T[] {
  return told.filter((thread) => (openingsOf(thread).at(-1) ?? -Infinity) > now - STILL_NEW_MS);
}

/** How often the group was told lately of troubles that are still open. */
function troublesOf(told: readonly ToldThread[], now: number): ReadonlyMap<string, number> {
  const troubles = new Map<string, number>();
  for (const [trouble, ofIt] of Map.groupBy(newsAmong(told, now), troubleOf))
    if (trouble !== undefined) troubles.set(trouble, new Set(ofIt.map(({ told_at: at }) => at)).size);
  return troubles;
}

function settlePool(threads: readonly ThreadRow[], { quietMs, mostMs }: Settling, now: number): ThreadRow[] {
  // One that opens again, or that is held back, waits longer and on its own; it must not end the wait of the others in its last seconds.
  const waiting = threads.filter(
    ({ flush_at: at, pending_since: since }) =>
      at !== null && since !== null && at <= Math.min(now, since) + mostMs && since >= now - mostMs,
  );
  const first = Math.min(...waiting.map(({ pending_since: since }) => since ?? now));
  const flushAt = Math.min(now + quietMs, first + mostMs);
  return waiting.filter(({ flush_at: at }) => at !== flushAt).map((thread) => ({ ...thread, flush_at: flushAt }));
}
