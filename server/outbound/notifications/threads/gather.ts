import { SITE_ROUTERS, STORM_REST, STORM_THREADS, SUSPECT_AGENTS, UPDATE_EVERY_MS, UPDATE_PART } from './timing.ts';
import type { ThreadRow } from './types.ts';

/** Which threads of a group are told as one. Pure. */

export interface Gathered {
  /** Threads of routers of one site with one kind, by the key of the thread that will stand for them. */
  sites: Map<string, ThreadRow[]>;
  /** Everything else that is to be told. */
  others: ThreadRow[];
}

/** Several routers of one site with the same fault are one thread of the site. @param due threads whose opening is to be told now */
export function gatherSites(due: readonly ThreadRow[]): Gathered {
  const bySite = new Map<string, ThreadRow[]>();
  const others: ThreadRow[] = [];
  for (const thread of due) {
    if (thread.site_id === null || thread.router_id === null || !thread.key.startsWith('router:')) {
      others.push(thread);
      continue;
    }
    const key = siteKey(thread.site_id, thread.kind);
    bySite.set(key, [...(bySite.get(key) ?? []), thread]);
  }
  const sites = new Map<string, ThreadRow[]>();
  for (const [key, threads] of bySite) {
    if (threads.length >= SITE_ROUTERS) sites.set(key, threads);
    else others.push(...threads);
  }
  return { sites, others };
}

export function siteKey(siteId: string, kind: string): string {
  return `site:${siteId}:${kind.slice(kind.indexOf('.') + 1)}`;
}

export function agentKey(agentId: string): string {
  return `agent:${agentId}`;
}

export function stormKey(groupId: string): string {
  return `storm:${groupId}`;
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
 * The open thread that stands for this one: its agent that is away, its site, or a storm. What is silenced counts in none but its cause.
 * @param find a thread of the group by its key
 */
export function parentOf(thread: ThreadRow, find: (key: string) => ThreadRow | undefined, isSilenced = false): ThreadRow | undefined {
  const isOfRouter = thread.router_id !== null && thread.key.startsWith('router:');
  const keys = [
    ...(isOfRouter && thread.agent_id !== null ? [agentKey(thread.agent_id)] : []),
    ...(isOfRouter && thread.site_id !== null && !isSilenced ? [siteKey(thread.site_id, thread.kind)] : []),
    ...(isSilenced ? [] : [stormKey(thread.group_id)]),
  ];
  return keys.map(find).find((parent) => parent?.state === 'open');
}

/** Has no records of its own: it stands for a site, a storm, or agents that were lost all at once. */
export function isStandIn({ kind }: Pick<ThreadRow, 'kind'>): boolean {
  return kind === 'site' || kind === 'storm' || kind === 'contact_lost';
}

/** What a thread that stands for others does next. */
export type Rollup =
  | { kind: 'end' }
  | { kind: 'update' }
  /** Nothing to tell now; look again then. */
  | { kind: 'wait'; until: number | null };

/** @param open threads in it that are open */
export function rollup(parent: ThreadRow, open: number, now: number): Rollup {
  const rest = parent.kind === 'site' ? 0 : STORM_REST;
  if (open <= rest) return { kind: 'end' };
  const changed = Math.abs(open - parent.told_count);
  if (changed === 0 || changed < parent.told_count * UPDATE_PART) return { kind: 'wait', until: null };
  const at = (parent.told_at ?? 0) + UPDATE_EVERY_MS;
  return at <= now ? { kind: 'update' } : { kind: 'wait', until: at };
}
