import type { DbOrTx } from '../../../../platform/storage/db.ts';
import { MAX_ITEMS } from '../../texts/types.ts';
import { DIGEST_KIND, isStandIn } from '../../threads/gather.ts';
import type { ThreadRow } from '../../threads/types.ts';
import {
  countAgents,
  countKinds,
  countRouters,
  countTargets,
  selectBeside,
  selectChildThreads,
  selectDigestedThreads,
  selectFirstItems,
  selectNames,
  selectTakers,
} from './store.ts';
import type { Facts } from './subject.ts';

/**
 * What there is to say of threads of one team, in their order. The number of queries does not grow with that of the threads.
 * @param mostItems of each thread, what is open first; also the most threads of a digest
 */
export async function readFacts(db: DbOrTx, teamId: string, threads: readonly ThreadRow[], mostItems = MAX_ITEMS): Promise<Facts[]> {
  const digested = await selectDigestedThreads(db, teamId, idsOf(threads.filter(({ kind }) => kind === DIGEST_KIND)), mostItems);
  const inStandIns = await selectChildThreads(db, teamId, idsOf(threads.filter(isStandIn)));
  const beside = await selectBeside(db, teamId, threads.filter(isOpenPlace));
  const direct = [...inStandIns, ...[...beside.values()].flat(), ...[...digested.values()].flatMap((digest) => digest.threads)];
  const nested = await selectChildThreads(db, teamId, idsOf(direct.filter(isStandIn)));
  const items = await selectFirstItems(db, teamId, idsOf(threads), mostItems);
  const all = [...threads, ...direct, ...nested];
  const shown = [...all, ...[...items.values()].flat()];
  const names = await selectNames(db, teamId, {
    routers: distinct(shown.map(({ router_id: id }) => id)),
    agents: distinct(shown.map(({ agent_id: id }) => id)),
    sites: distinct(all.map(({ site_id: id }) => id)),
  });
  const takers = await selectTakers(db, teamId, threads);
  const kinds = await countKinds(db, teamId, idsOf([...threads, ...direct].filter(({ key }) => key.endsWith(':jobs'))));
  const targets = await countTargets(db, teamId, distinct(threads.map(campaignOf)));
  const ofAgents = await countRouters(db, teamId, 'agent_id', distinct([...threads, ...direct].map(agentOf)));
  const ofSites = await countRouters(db, teamId, 'site_id', distinct(threads.map(siteOf)));
  const agents = threads.some(({ kind }) => kind === 'contact_lost') ? await countAgents(db, teamId) : 0;
  const children = Map.groupBy(inStandIns, parentOf);
  const inPlaces = Map.groupBy(nested, parentOf);
  return threads.map((thread) => {
    const digest = digested.get(thread.id);
    const own = digest?.threads ?? [...(beside.get(thread.id) ?? []), ...(children.get(thread.id) ?? [])];
    return {
      thread,
      items: items.get(thread.id) ?? [],
      children: own,
      childCount: digest?.count ?? own.length,
      names,
      taker: takers.get(thread.acknowledged_by ?? '') ?? null,
      kinds: kinds.get(thread.id) ?? summed(own.map(({ id }) => kinds.get(id))),
      targets: targets.get(campaignOf(thread) ?? '') ?? {},
      agents,
      routers: ofSites.get(siteOf(thread) ?? '') ?? ofAgents.get(agentOf(thread) ?? '') ?? 0,
      affected: own.reduce((sum, child) => sum + affectedBy(child, ofAgents, inPlaces), 0),
    };
  });
}

/** The routers of a place that are told as one. */
function isOpenPlace({ kind, state }: ThreadRow): boolean {
  return (kind === 'site' || kind === 'agent_routers') && state === 'open';
}

/** Routers that one thread of a storm has taken: all of an agent that is away, those of a place that are affected, or the one. */
function affectedBy(child: ThreadRow, ofAgents: ReadonlyMap<string, number>, inPlaces: ReadonlyMap<string, readonly ThreadRow[]>): number {
  if (isStandIn(child)) return inPlaces.get(child.id)?.length ?? 0;
  return child.key.startsWith('agent:') ? (ofAgents.get(child.agent_id ?? '') ?? 0) : 1;
}

function summed(counts: readonly (ReadonlyMap<string, number> | undefined)[]): Map<string, number> {
  const sums = new Map<string, number>();
  for (const one of counts) for (const [kind, count] of one ?? []) sums.set(kind, (sums.get(kind) ?? 0) + count);
  return sums;
}

/** Also one that is over. */
function parentOf({ parent_id: parent, told_in: toldIn }: ThreadRow): string {
  return parent ?? toldIn!;
}

function campaignOf({ key }: ThreadRow): string | null {
  return key.startsWith('campaign:') ? key.slice('campaign:'.length) : null;
}

function agentOf({ key, kind, agent_id: id }: ThreadRow): string | null {
  return key.startsWith('agent:') || kind === 'agent_routers' ? id : null;
}

function siteOf({ kind, site_id: id }: ThreadRow): string | null {
  return kind === 'site' ? id : null;
}

function idsOf(threads: readonly ThreadRow[]): string[] {
  return threads.map(({ id }) => id);
}

function distinct(ids: readonly (string | null)[]): string[] {
  return [...new Set(ids.filter((id) => id !== null))];
}
