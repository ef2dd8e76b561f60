import { readCauses } from '../../../../platform/notices/causes.ts';
import type { Cause } from '../../../../platform/notices/causes.ts';
import type { FaultType, JobOutcomes, Named, ThreadSubject } from '../../texts/types.ts';
import { DIGEST_KIND, faultOfPlace, likenessOfKey } from '../../threads/gather.ts';
import { TEST_KIND } from '../../threads/new-thread.ts';
import type { ItemRow, ThreadRow } from '../../threads/types.ts';
import type { Names } from './store.ts';

/** What a thread is about. Pure. */

export interface Facts {
  thread: ThreadRow;
  /** The first ones; of a thread that stands for others, those of its threads. */
  items: readonly ItemRow[];
  /** All of a thread that stands for others; the first ones of a digest. */
  children: readonly ThreadRow[];
  childCount: number;
  names: Names;
  /** Who has taken it over; null for nobody, or somebody who is gone. */
  taker: string | null;
  /** Items by kind: of jobs, also of those of several routers. */
  kinds: ReadonlyMap<string, number>;
  /** Of a campaign. */
  targets: Readonly<Record<string, number>>;
  /** Agents of the team that are not revoked: when contact with most of them is lost. */
  agents: number;
  /** Routers of the thread's agent or site. */
  routers: number;
  /** Routers that a storm has taken. */
  affected: number;
}

export function subjectOf(facts: Facts): ThreadSubject {
  const { thread, children } = facts;
  switch (thread.kind) {
    case TEST_KIND: {
      const { by, group } = dataOf(facts.items[0]);
      return { type: 'test', group: { id: thread.group_id, name: text(group) }, by: text(by) };
    }
    case 'site':
      return {
        type: 'site',
        site: siteOf(facts, thread.site_id) ?? unnamed(thread.site_id),
        fault: faultOfPlace(thread) as FaultType,
        ...affectedOf(facts),
      };
    case 'agent_routers': {
      const [, id = ''] = thread.key.split(':');
      return { type: 'agent_routers', agent: agentOf(facts, id), fault: faultOfPlace(thread) as FaultType, ...affectedOf(facts) };
    }
    case 'contact_lost':
      return { type: 'server', warning: 'contact_lost', detail: '', affected: children.length, of: facts.agents };
    case DIGEST_KIND:
      return { type: 'digest', from: thread.first_at, to: thread.created_at };
    case 'several': {
      const routers = new Set(children.flatMap(({ router_id: id }) => id ?? []));
      const isEachOfAnother = routers.size === children.length;
      const ofRouters = isEachOfAnother ? routers.size : null;
      const outcomes = outcomesOf(facts.kinds);
      return { type: 'several', of: likenessOfKey(thread.key), count: children.length, routers: ofRouters, outcomes };
    }
    case 'storm': {
      const sites = new Set(children.map(({ site_id: id }) => id).filter((id) => id !== null));
      return { type: 'storm', sites: sites.size, routers: facts.affected, first: firstOf(facts) };
    }
    default:
      return ownSubject(facts);
  }
}

/** Routers of a place that have the fault, of all that are there. Those that were told by themselves have it as well. */
function affectedOf({ thread, children, routers }: Facts): { affected: number; of: number } {
  if (thread.state !== 'open') return { affected: thread.item_count, of: routers };
  const beside = children.filter(({ parent_id: parent, told_in: toldIn }) => parent !== thread.id && toldIn !== thread.id);
  return { affected: thread.open_count + beside.length, of: routers };
}

function ownSubject(facts: Facts): ThreadSubject {
  const { thread, items } = facts;
  const [item] = items;
  const data = dataOf(item);
  const [word, id = ''] = thread.key.split(':');
  if (word === 'campaign') {
    const campaign = { id, name: text(data['description']) };
    const change = (item?.kind.startsWith('campaign.') ? item.kind.slice('campaign.'.length) : 'started') as 'started';
    return { type: 'campaign', campaign, change, counts: facts.targets };
  }
  if (word === 'forward') {
    const change = (item?.kind.slice('forward.'.length) ?? 'created') as 'created' | 'lost' | 'closed';
    return { type: 'forward', forward: { id, name: text(data['target']) }, router: routerOf(facts, item?.router_id ?? null), change };
  }
  if (word === 'agent') return agentSubject(facts, id, item, data);
  if (word === 'server')
    return { type: 'server', warning: id === 'disk' ? 'disk' : 'certificate', detail: text(data['detail']), causes: causesOf(data) };
  if (word === 'delivery')
    return {
      type: 'delivery',
      channel: text(data['channel']),
      address: text(data['address']),
      reason: text(data['reason']),
      to: text(data['to']),
      group: text(data['group']),
    };
  const router = routerOf(facts, thread.router_id) ?? unnamed(thread.router_id);
  const site = siteOf(facts, thread.site_id);
  if (thread.key.endsWith(':jobs')) {
    return { type: 'jobs', router, site, outcomes: outcomesOf(facts.kinds), detail: text(data['description']) };
  }
  if (thread.key.endsWith(':config'))
    return { type: 'config', router, site, added: Number(data['lines_added'] ?? 0), removed: Number(data['lines_removed'] ?? 0) };
  return {
    type: 'router',
    router,
    site,
    fault: thread.kind.slice('fault.'.length) as FaultType,
    detail: text(data['cause']),
    causes: causesOf(data),
  };
}

function outcomesOf(kinds: ReadonlyMap<string, number>): JobOutcomes {
  return Object.fromEntries([...kinds].map(([kind, count]) => [kind.slice('job.'.length), count]));
}

function agentSubject(facts: Facts, id: string, item: ItemRow | undefined, data: Record<string, unknown>): ThreadSubject {
  const agent = agentOf(facts, id);
  const site = siteOf(facts, facts.thread.site_id);
  if (item?.kind === 'agent.revoked') return { type: 'agent_revoked', agent, site };
  return { type: 'agent', agent, site, routers: Number(data['routers'] ?? facts.routers) };
}

/** What a row of a list is called: a router, an agent or a site. */
export function nameOfThread(facts: Facts, thread: ThreadRow): string {
  if (thread.kind === 'site') return siteOf(facts, thread.site_id)?.name ?? '';
  if (thread.router_id !== null) return facts.names.routers.get(thread.router_id)?.name ?? thread.router_id;
  return (thread.agent_id === null ? undefined : facts.names.agents.get(thread.agent_id)) ?? thread.key;
}

function firstOf(facts: Facts): string {
  const first = facts.children.toSorted((one, other) => one.first_at - other.first_at)[0];
  return first ? nameOfThread(facts, first) : '';
}

function agentOf({ names }: Facts, id: string): Named {
  return { id, name: names.agents.get(id) ?? id };
}

export function routerOf({ names }: Pick<Facts, 'names'>, id: string | null): Named | null {
  return id === null ? null : { id, name: names.routers.get(id)?.name ?? id };
}

export function siteOf({ names }: Pick<Facts, 'names'>, id: string | null): Named | null {
  const site = id === null ? undefined : names.sites.get(id);
  return site === undefined ? null : { id: id!, name: site.name };
}

function unnamed(id: string | null): Named {
  return { id: id ?? '', name: id ?? '' };
}

export function dataOf(item: ItemRow | undefined): Record<string, unknown> {
  return item === undefined ? {} : (JSON.parse(item.data) as Record<string, unknown>);
}

/** Empty for facts of older versions: their words are English only. */
export function causesOf(data: Record<string, unknown>): readonly Cause[] {
  return readCauses(data['causes']);
}

export function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
