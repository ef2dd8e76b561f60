import { comesAndGoes, freeKey, gatherPlaces, isOpening, isStandIn, isStorm, isSuspect, parentOf, rollup, stormKey } from '../gather.ts';
import { openingsOf, stir, withKindsOf, worst } from '../apply.ts';
import { FRESH, newThread } from '../new-thread.ts';
import { FLAP_WINDOW_MS, SUSPECT_MS } from '../timing.ts';
import type { ThreadRow } from '../types.ts';
import { care, earliest, isCareDue, lookAt, watch } from './care.ts';
import { decide, heldBack, rest, wasHeldBack } from './decide.ts';
import { calmDown, startFlapping } from './flapping.ts';
import { gatherMoments } from './moments.ts';
import { GroupResult } from './result.ts';
import { momentFor } from './state.ts';
import type { GroupState } from './state.ts';
import { tell } from './told.ts';

/** What the due threads of one group tell. Pure. */

export function tellGroup(state: GroupState): GroupResult {
  const result = new GroupResult();
  const single = state.due.filter((thread) => !isStandIn(thread) && !state.silenced.has(thread.id));
  const gathered = state.hold
    ? new Set<string>()
    : new Set([...gatherOpenings(state, single.filter(isOpening), result), ...gatherMoments(state, single, result)]);
  // Places before the storm that stands for them.
  for (const due of state.due.toSorted((one, other) => Number(one.parent_id === null) - Number(other.parent_id === null))) {
    if (gathered.has(due.id)) continue;
    if (!isStandIn(due)) result.tell(decide(due, momentFor(state, due)));
    // What others have changed in this pass was not counted: it is due again.
    else if (result.has(due)) continue;
    else if (due.state === 'open') rollUp(state, due, result);
    else result.tell(decide(due, momentFor(state, due)));
  }
  return result;
}

/** @returns the threads that are told by another, or held back */
function gatherOpenings(state: GroupState, due: readonly ThreadRow[], result: GroupResult): Set<string> {
  const openings = due.filter((thread) => !joinParent(state, thread, result));
  const { places, others } = gatherPlaces(openings, state.toldAlone);
  const agents = others.filter(({ key }) => key.startsWith('agent:'));
  const isLostAtOnce = isSuspect(agents.length, state.agents);
  const held = isLostAtOnce ? agents.filter((thread) => heldUntil(thread, state.now) > state.now) : [];
  // It may be over in a minute, and then it was not the agents.
  for (const thread of held) result.put({ ...thread, flush_at: heldUntil(thread, state.now) });
  const alone = others.filter((thread) => !held.includes(thread));
  const free = (key: string) => freeKey(key, (wanted) => state.parents.find((one) => one.key === wanted));
  const placeThreads = [...places].map(([key, threads]) => standFor(state, { key: free(key), ...standInOf(threads[0]!) }, threads, result));
  const all = [...placeThreads, ...alone];
  const stormy = isStorm(all);
  if (stormy) {
    const kind = isLostAtOnce && held.length === 0 && all.length === agents.length ? 'contact_lost' : 'storm';
    const key = free(stormKey(state.groupId));
    announce(standFor(state, { key, kind, siteId: null, agentId: null }, all, result), all, state, result);
  } else for (const [index, threads] of [...places.values()].entries()) announce(placeThreads[index]!, threads, state, result);
  const joined = due.filter((thread) => !openings.includes(thread));
  return new Set([...joined, ...held, ...[...places.values()].flat(), ...(stormy ? alone : [])].map(({ id }) => id));
}

/** What waited while another thread opened that stands for it goes under that one. @returns false when there is none */
function joinParent({ parents, now }: GroupState, thread: ThreadRow, result: GroupResult): boolean {
  const parent = parentOf(thread, (key) => parents.find((one) => one.key === key));
  if (!parent || parent.id === thread.id) return false;
  result.put(under(parent, thread));
  const waiting = result.of(parent);
  if (isStandIn(parent)) result.put(stir(waiting, thread, now));
  return true;
}

function under(parent: ThreadRow, thread: ThreadRow): ThreadRow {
  return {
    ...thread,
    parent_id: parent.id,
    told_in: null,
    pending: null,
    pending_since: null,
    flush_at: null,
    muted: 0,
    silenced_until: null,
  };
}

function heldUntil(thread: ThreadRow, now: number): number {
  return (thread.pending_since ?? now) + SUSPECT_MS;
}

/** What a thread that stands for others is, and where. */
interface StandIn {
  key: string;
  kind: string;
  siteId: string | null;
  agentId: string | null;
}

/** Of routers at the place of this one. */
function standInOf({ site_id: siteId, agent_id: agentId }: ThreadRow): Omit<StandIn, 'key'> {
  return siteId === null ? { kind: 'agent_routers', siteId, agentId } : { kind: 'site', siteId, agentId: null };
}

/** Puts threads under one that stands for them. */
function standFor(
  { teamId, groupId, parents, children, newId, now }: GroupState,
  { key, kind, siteId, agentId }: StandIn,
  threads: readonly ThreadRow[],
  result: GroupResult,
): ThreadRow {
  const known = parents.find((thread) => thread.key === key);
  const openings = known ? openingsOf(known).filter((time) => time > now - FLAP_WINDOW_MS) : [];
  const isOpen = threads.filter(({ state }) => state === 'open');
  // One that comes and goes, and is told anew, keeps what is in it.
  const isAnew = known?.state === 'open';
  const before = (isAnew ? children.get(known.id) : undefined) ?? { open: 0, all: 0, severity: 'info' };
  const parent: ThreadRow = {
    ...withKindsOf({ ...(known ?? newThread({ id: newId(), teamId, groupId, key, kind, now })), kinds: '[]' }, threads),
    kind,
    site_id: siteId,
    agent_id: agentId,
    severity: worst([before, ...threads]),
    state: 'open',
    ended_at: null,
    parent_id: null,
    first_at: Math.min(...threads.map(({ first_at: at }) => at)),
    open_count: before.open + isOpen.length,
    item_count: before.all + threads.length,
    // What joins it stays for now: it is told as open, with reminders and an end.
    openings: JSON.stringify(isAnew ? [] : [...openings, now]),
    flapping_since: null,
    pending: null,
    pending_since: null,
    flush_at: null,
    muted: 0,
    silenced_until: null,
    ...FRESH,
  };
  if (known) {
    result.put(parent);
    result.reopened.push(parent.id);
  } else result.add(parent);
  for (const thread of threads) result.put(under(parent, result.of(thread)));
  return parent;
}

function announce(parent: ThreadRow, threads: readonly ThreadRow[], { chain, now }: GroupState, result: GroupResult): void {
  const told: ThreadRow = { ...result.of(parent), told_open: 1 };
  const next = comesAndGoes(told, threads) ? startFlapping(told, threads, now) : watch(told, chain, now);
  result.tell(tell(next, threads.every(wasHeldBack) ? 'still_open' : 'open', now));
}

/** A thread that stands for others: its number has changed, or all are back. */
function rollUp(state: GroupState, thread: ThreadRow, result: GroupResult): void {
  const moment = momentFor(state, thread);
  const { now, hold } = moment;
  const { open, all, severity, moves } = state.children.get(thread.id) ?? { open: 0, all: 0, severity: thread.severity, moves: [] };
  const counted = { ...thread, open_count: open, item_count: all, severity };
  const look = lookAt(counted, thread.told_at ?? now);
  const quiet = { ...counted, pending: null, pending_since: null, flush_at: look, muted: 0 as const };
  if (thread.parent_id !== null) {
    // A storm stands for this place.
    if (open > 0) {
      result.put({ ...quiet, flush_at: null });
      return;
    }
    result.put(rest({ ...quiet, state: 'ended', ended_at: now, told_open: 0, parent_id: null, told_in: thread.parent_id }, now));
    result.released.push(counted);
    const storm = state.parents.find(({ id }) => id === thread.parent_id);
    if (storm) result.put(stir(result.of(storm), thread, now));
    return;
  }
  if (thread.flapping_since !== null) {
    calmDown(counted, moves, moment, result);
    return;
  }
  const next = rollup(counted, open, now);
  if (next.kind === 'end') {
    result.tell(tell(rest({ ...quiet, state: 'ended', ended_at: now, told_open: 0 }, now), 'resolve', now));
    result.released.push(counted);
  } else if (isCareDue(counted, now)) {
    result.tell(care(hold ? counted : quiet, moment));
  } else if (next.kind === 'update' && !hold) {
    result.tell(tell({ ...quiet, flush_at: lookAt(counted, now) }, 'update', now));
  } else if (hold) {
    // The number is told when the mute or the silence ends. A mute does not stop the escalation: its people may be off duty.
    const escalateAt = hold.reason === 'muted' ? counted.escalate_at : null;
    result.put({ ...heldBack(counted, hold), flush_at: earliest(hold.until, escalateAt), pending: 'update' });
  } else {
    const until = next.kind === 'wait' ? next.until : null;
    result.put(until === null ? quiet : { ...quiet, pending: 'update', flush_at: earliest(until, look) });
  }
}
