import { openingsOf } from './apply.ts';
import {
  FLAP_OPENINGS,
  PLACE_ROUTERS,
  PLACE_ROUTERS_IN_TURN,
  STORM_REST,
  STORM_THREADS,
  SUSPECT_AGENTS,
  UPDATE_EVERY_MS,
  UPDATE_PART,
} from './timing.ts';
import type { ThreadRow } from './types.ts';

/** Which threads of a group are told as one. Pure. */

export interface Gathered {
  /** Threads of routers with one kind at one site, or without a site behind one agent, by the key of the thread that will stand for them. */
  places: Map<string, ThreadRow[]>;
  /** Everything else that is to be told. */
  others: ThreadRow[];
}

/**
 * Several routers with the same fault at one site are one thread of the site. Those without a site are one of their agent: what lies between it
 * and them is the likely cause. Those that the group was told of one by one lately count as well: the next one makes it a matter of the place.
 * @param due threads whose opening is to be told now
 * @param toldAlone how many routers of a place the group was told of one by one lately, by the key of the thread that would stand for them
 */
export function gatherPlaces(due: readonly ThreadRow[], toldAlone: ReadonlyMap<string, number> = new Map()): Gathered {
  const byPlace = new Map<string, ThreadRow[]>();
  const others: ThreadRow[] = [];
  for (const thread of due) {
    const key = isOfRouter(thread) ? placeKey({ siteId: thread.site_id, agentId: thread.agent_id }, thread.kind) : undefined;
    if (key === undefined) others.push(thread);
    else byPlace.set(key, [...(byPlace.get(key) ?? []), thread]);
  }
  const places = new Map<string, ThreadRow[]>();
  for (const [key, threads] of byPlace) {
    // What comes and goes by itself says nothing of the place.
    const lasting = threads.filter(({ pending }) => pending !== 'flapping');
    if (threads.length >= PLACE_ROUTERS) places.set(key, threads);
    else if (lasting.length > 0 && lasting.length + (toldAlone.get(key) ?? 0) >= PLACE_ROUTERS_IN_TURN && toldAlone.has(key)) {
      places.set(key, lasting);
      others.push(...threads.filter((thread) => !lasting.includes(thread)));
    } else others.push(...threads);
  }
  return { places, others };
}

/** How many routers of each place are among these threads, by the key of the thread that would stand for them. */
export function countByPlace(threads: readonly PlacedRouter[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const thread of threads) {
    const key = isOfRouter(thread) ? placeKey({ siteId: thread.site_id, agentId: thread.agent_id }, thread.kind) : undefined;
    if (key !== undefined) counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}

type PlacedRouter = Pick<ThreadRow, 'router_id' | 'key' | 'site_id' | 'agent_id' | 'kind'>;

function isOfRouter({ router_id: routerId, key }: Pick<ThreadRow, 'router_id' | 'key'>): boolean {
  return routerId !== null && key.startsWith('router:');
}

/** The key of the thread that stands for routers of one place with one kind of fault. Undefined for routers that are nowhere. */
export function placeKey({ siteId, agentId }: { siteId: string | null; agentId: string | null }, kind: string): string | undefined {
  if (siteId !== null) return siteKey(siteId, kind);
  return agentId === null ? undefined : agentRoutersKey(agentId, kind);
}

/** Of the thread that stands for routers of a site with one kind of fault. */
export function siteKey(siteId: string, kind: string): string {
  return `site:${siteId}:${kind.slice(kind.indexOf('.') + 1)}`;
}

/** Of the thread that stands for an agent's routers without a site with one kind of fault. */
export function agentRoutersKey(agentId: string, kind: string): string {
  return `agent_routers:${agentId}:${kind.slice(kind.indexOf('.') + 1)}`;
}

/** The fault of which the thread of a site, or of an agent's routers, tells. */
export function faultOfPlace({ key }: Pick<ThreadRow, 'key'>): string {
  return key.split(':')[2] ?? '';
}

export function agentKey(agentId: string): string {
  return `agent:${agentId}`;
}

export function stormKey(groupId: string): string {
  return `storm:${groupId}`;
}

/** What comes and goes tells little for as long as it does: what opens meanwhile may need another thread that stands for it. */
const SECOND = ':2';

export function bothKeys(key: string): string[] {
  return [key, `${key}${SECOND}`];
}

/** The key of the next storm, or of the next thread of a place. When both come and go, the second one is told anew, as one that stays. */
export function freeKey(first: string, find: (key: string) => ThreadRow | undefined): string {
  const keys = bothKeys(first);
  return keys.find((key) => find(key)?.state !== 'open') ?? keys.at(-1)!;
}

/** The last of the storms, or of the threads of a place, says nothing of what is in it: the next one is told with it. */
export function mayBeToldAnew(thread: ThreadRow): boolean {
  const isSilent = thread.flapping_since !== null || thread.parent_id !== null;
  return isStandIn(thread) && thread.state === 'open' && isSilent && thread.key.endsWith(SECOND);
}

/** More threads at once than a person reads. */
export function isStorm(opening: readonly ThreadRow[]): boolean {
  return opening.length > STORM_THREADS;
}

/** Contact lost with most agents at once is more likely a fault of this server's line than of each agent. */
export function isSuspect(awayAgents: number, allAgents: number): boolean {
  return awayAgents >= SUSPECT_AGENTS && awayAgents * 2 > allAgents;
}

/**
 * The open thread that stands for this one: its agent that is away, its site or the routers of its agent, or a storm. What is silenced counts in none but its cause.
 * @param find a thread of the group by its key
 */
export function parentOf(thread: ThreadRow, find: (key: string) => ThreadRow | undefined, isSilenced = false): ThreadRow | undefined {
  const { site_id: siteId, agent_id: agentId } = thread;
  const cause = isOfRouter(thread) && agentId !== null ? find(agentKey(agentId)) : undefined;
  if (isSilenced) return [cause].find((parent) => parent?.state === 'open');
  const storms = bothKeys(stormKey(thread.group_id)).map(find);
  const place = isOfRouter(thread) ? placeKey({ siteId, agentId }, thread.kind) : undefined;
  const places = place === undefined ? [] : bothKeys(place).map(find);
  const above = ({ parent_id: id }: ThreadRow) => (id === null ? undefined : storms.find((storm) => storm?.id === id));
  const others = [...places, ...storms].filter((other) => other && !isTooRestless(other, above(other), thread));
  return [cause, ...others].find((parent) => parent?.state === 'open');
}

/**
 * A place or a storm that comes and goes says nothing of what is in it, and reminds of nothing: it stands only for what comes and goes as well.
 * @param above the storm that stands for it
 */
export function isTooRestless(parent: ThreadRow, above: ThreadRow | undefined, thread: ThreadRow): boolean {
  if (![parent, above].some((one) => one && isStandIn(one) && one.flapping_since !== null)) return false;
  // 'steady': it has stayed open for so long that it is to be told.
  return openingsOf(thread).length < FLAP_OPENINGS || (thread.parent_id === null && thread.pending === 'steady');
}

/** Have no records of their own: a site, an agent's routers without a site, a storm, agents that were lost all at once, things of one kind that happened at once. */
export const STAND_INS = ['site', 'agent_routers', 'storm', 'contact_lost', 'several'] as const;

export function isStandIn({ kind }: Pick<ThreadRow, 'kind'>): boolean {
  return (STAND_INS as readonly string[]).includes(kind);
}

/** A digest of one person. */
export const DIGEST_KIND = 'digest';

/** It is about other threads, and has no records of its own. */
export function listsThreads(thread: Pick<ThreadRow, 'kind'>): boolean {
  return isStandIn(thread) || thread.kind === DIGEST_KIND;
}

/** To be told as open, and nobody knows of it: it has opened, it comes and goes, or it stays open although nobody was told that it flaps. */
export function isOpening({ pending, state, told_open: told }: ThreadRow): boolean {
  return told === 0 && (pending === 'open' || pending === 'flapping' || (pending === 'steady' && state === 'open'));
}

/** What happens and is over at once, and is told together when there are many. Jobs of a router are one thread whatever became of them. */
export type Likeness = 'job' | 'fault.rebooted' | 'config.changed' | 'agent.revoked' | 'forward.created' | 'forward.closed';
const ALIKE: readonly string[] = ['fault.rebooted', 'config.changed', 'agent.revoked', 'forward.created', 'forward.closed'];

/** Undefined for what is told alone: campaigns have their numbers, and what is open has an end. */
export function likenessOf({ pending, state, key, kinds }: ThreadRow): Likeness | undefined {
  if (pending !== 'info' || state === 'open') return undefined;
  if (key.endsWith(':jobs')) return 'job';
  return (JSON.parse(kinds) as string[]).findLast((kind): kind is Likeness => ALIKE.includes(kind));
}

export function severalKey(groupId: string, likeness: Likeness): string {
  return `several:${groupId}:${likeness}`;
}

/** What a thread for several is about. */
export function likenessOfKey(key: string): Likeness {
  return key.slice(key.lastIndexOf(':') + 1) as Likeness;
}

/** A thread that stands for others comes and goes: it has opened too often, or most of what is in it does. @param threads as they are due */
export function comesAndGoes(parent: ThreadRow, threads: readonly ThreadRow[]): boolean {
  const flapping = threads.filter((thread) => thread.pending === 'flapping' || openingsOf(thread).length >= FLAP_OPENINGS);
  return openingsOf(parent).length >= FLAP_OPENINGS || flapping.length * 2 >= threads.length;
}

/** What a thread that stands for others does next. */
export type Rollup =
  | { kind: 'end' }
  | { kind: 'update' }
  /** Nothing to tell now; look again then. */
  | { kind: 'wait'; until: number | null };

/** It is over when no more than so many of its threads are open. */
export function restOf({ kind }: ThreadRow): number {
  return kind === 'site' || kind === 'agent_routers' ? 0 : STORM_REST;
}

/** @param open threads in it that are open */
export function rollup(parent: ThreadRow, open: number, now: number): Rollup {
  if (open <= restOf(parent)) return { kind: 'end' };
  const changed = Math.abs(open - parent.told_count);
  if (changed === 0 || changed < parent.told_count * UPDATE_PART) return { kind: 'wait', until: null };
  const at = (parent.told_at ?? 0) + UPDATE_EVERY_MS;
  return at <= now ? { kind: 'update' } : { kind: 'wait', until: at };
}
