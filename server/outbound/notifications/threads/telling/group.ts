import { gatherSites, isStandIn, isStorm, isSuspect, rollup, stormKey } from '../gather.ts';
import { FRESH, newThread } from '../new-thread.ts';
import { ENDING, SUSPECT_MS } from '../timing.ts';
import type { ThreadRow } from '../types.ts';
import { care, earliest, isCareDue, lookAt, watch } from './care.ts';
import { decide, rest, wasHeldBack } from './decide.ts';
import type { Moment } from './moment.ts';
import { GroupResult } from './result.ts';
import { tell } from './told.ts';

/** What the due threads of one group tell. Pure. */

export interface GroupState extends Moment {
  teamId: string;
  groupId: string;
  /** Due. Of those that another stands for, only the ones that stand for others themselves. */
  due: readonly ThreadRow[];
  /** All threads of the group that stand for others, also ended ones that can open again. */
  standIns: readonly ThreadRow[];
  /** For the due ones of them: threads in them, and how many of those are open. */
  children: ReadonlyMap<string, { open: number; all: number; severity: string }>;
  /** Due threads that a silence covers, with its end. */
  silenced: ReadonlyMap<string, number>;
  /** Agents of the team that are not revoked. */
  agents: number;
  newId: () => string;
}

export function tellGroup(state: GroupState): GroupResult {
  const result = new GroupResult();
  const openings = state.due.filter((thread) => thread.pending === 'open' && !isStandIn(thread) && !state.silenced.has(thread.id));
  const gathered = state.hold ? new Set<string>() : gatherOpenings(state, openings, result);
  for (const thread of state.due) {
    if (gathered.has(thread.id)) continue;
    if (isStandIn(thread) && thread.state === 'open') rollUp(state, result.of(thread), result);
    else {
      result.tell(decide(thread, momentFor(state, thread)));
      const hasEnded = thread.pending === 'end' || thread.pending === 'over';
      if (hasEnded && thread.key.startsWith('agent:')) result.released.push({ parentId: thread.id, how: 'open_again' });
    }
  }
  return result;
}

/** A mute of the group counts first: nobody can say when it ends. */
function momentFor({ now, hold, chain, silenced }: GroupState, { id }: ThreadRow): Moment {
  const until = silenced.get(id);
  return { now, chain, hold: hold ?? (until === undefined ? null : { reason: 'silenced', until }) };
}

/** @returns the threads that are told by another, or held back */
function gatherOpenings(state: GroupState, openings: readonly ThreadRow[], result: GroupResult): Set<string> {
  const { sites, others } = gatherSites(openings);
  const agents = others.filter(({ key }) => key.startsWith('agent:'));
  const isLostAtOnce = isSuspect(agents.length, state.agents);
  const held = isLostAtOnce ? agents.filter((thread) => heldUntil(thread, state.now) > state.now) : [];
  // It may be over in a minute, and then it was not the agents.
  for (const thread of held) result.put({ ...thread, flush_at: heldUntil(thread, state.now) });
  const alone = others.filter((thread) => !held.includes(thread));
  const siteThreads = [...sites].map(([key, threads]) =>
    standFor(state, { key, kind: 'site', siteId: threads[0]!.site_id }, threads, result),
  );
  const all = [...siteThreads, ...alone];
  const stormy = isStorm(all);
  if (stormy) {
    const kind = isLostAtOnce && held.length === 0 && all.length === agents.length ? 'contact_lost' : 'storm';
    announce(standFor(state, { key: stormKey(state.groupId), kind, siteId: null }, all, result), all, state, result);
  } else for (const site of siteThreads) announce(site, sites.get(site.key)!, state, result);
  return new Set([...held, ...[...sites.values()].flat(), ...(stormy ? alone : [])].map(({ id }) => id));
}

function heldUntil(thread: ThreadRow, now: number): number {
  return (thread.pending_since ?? now) + SUSPECT_MS;
}

/** Puts threads under one that stands for them. */
function standFor(
  { teamId, groupId, standIns, newId, now }: GroupState,
  { key, kind, siteId }: { key: string; kind: string; siteId: string | null },
  threads: readonly ThreadRow[],
  result: GroupResult,
): ThreadRow {
  const known = standIns.find((thread) => thread.key === key);
  const parent: ThreadRow = {
    ...(known ?? newThread({ id: newId(), teamId, groupId, key, kind, now })),
    kind,
    site_id: siteId,
    severity: worst(threads),
    state: 'open',
    ended_at: null,
    first_at: Math.min(...threads.map(({ first_at: at }) => at)),
    open_count: threads.length,
    item_count: threads.length,
    pending: null,
    pending_since: null,
    flush_at: null,
    ...FRESH,
  };
  if (known) result.put(parent);
  else result.add(parent);
  for (const thread of threads)
    result.put({
      ...result.of(thread),
      parent_id: parent.id,
      pending: null,
      pending_since: null,
      flush_at: null,
      muted: 0,
      silenced_until: null,
    });
  return parent;
}

function announce(parent: ThreadRow, threads: readonly ThreadRow[], { chain, now }: GroupState, result: GroupResult): void {
  const told = watch({ ...result.of(parent), told_open: 1 }, chain, now);
  result.tell(tell(told, threads.every(wasHeldBack) ? 'still_open' : 'open', now));
}

/** A thread that stands for others: its number has changed, or all are back. */
function rollUp(state: GroupState, thread: ThreadRow, result: GroupResult): void {
  const moment = momentFor(state, thread);
  const { now, hold } = moment;
  const { open, all, severity } = state.children.get(thread.id) ?? { open: 0, all: 0, severity: thread.severity };
  const counted = { ...thread, open_count: open, item_count: all, severity };
  const look = lookAt(counted, thread.told_at ?? now);
  const quiet = { ...counted, pending: null, pending_since: null, flush_at: look };
  if (thread.parent_id !== null) {
    // A storm stands for this site.
    result.put(
      open > 0 ? { ...quiet, flush_at: null } : rest({ ...quiet, state: 'ended', ended_at: now, told_open: 0, parent_id: null }, now),
    );
    if (open > 0) return;
    result.released.push({ parentId: thread.id, how: 'as_told' });
    const storm = state.standIns.find(({ id }) => id === thread.parent_id);
    if (storm) {
      const waiting = result.of(storm);
      result.put({ ...waiting, pending: 'update', pending_since: waiting.pending_since ?? now, flush_at: now + ENDING.quietMs });
    }
    return;
  }
  const next = rollup(counted, open, now);
  if (next.kind === 'end') {
    result.tell(tell(rest({ ...quiet, state: 'ended', ended_at: now, told_open: 0 }, now), 'resolve', now));
    result.released.push({ parentId: thread.id, how: 'as_told' });
  } else if (isCareDue(counted, now)) {
    result.tell(care(hold ? counted : quiet, moment));
  } else if (next.kind === 'update' && !hold) {
    result.tell(tell({ ...quiet, flush_at: lookAt(counted, now) }, 'update', now));
  } else {
    // While it is held back, the number is told at the end of that.
    const until = hold ? hold.until : next.kind === 'wait' ? next.until : null;
    const silencedUntil = hold?.reason === 'silenced' ? hold.until : null;
    if (until === null) result.put({ ...quiet, flush_at: hold ? null : look });
    else result.put({ ...counted, pending: 'update', silenced_until: silencedUntil, flush_at: hold ? until : earliest(until, look) });
  }
}

const RANK = ['info', 'warning', 'critical'];

function worst(threads: readonly ThreadRow[]): string {
  return RANK[Math.max(...threads.map(({ severity }) => RANK.indexOf(severity)))] ?? 'info';
}
