import type { AgentGateway } from '../../platform/core/agent-gateway.ts';
import type { Clock } from '../../platform/core/clock.ts';
import { nextTurn } from '../../platform/core/loop-turns.ts';
import type { Storage } from '../../platform/storage/db.ts';
import { plainVersion } from '../../../routeros-text/versions.ts';
import type { RoutersService } from '../routers/service.ts';
import { countStates } from '../states/service.ts';
import type { StatesService } from '../states/service.ts';
import type { StateOfRouter } from '../states/types.ts';
import { CommonCauses, hasCommonCause } from './causes.ts';
import type { UnnamedCause } from './causes.ts';
import {
  countJobs,
  countOpenFaults,
  countOpenForwards,
  countOpenTerminals,
  countRunningCampaigns,
  selectLiveAgents,
  selectPlacedRouters,
  selectSiteNames,
} from './store.ts';
import type { KnownAgent } from './store.ts';
import type { CommonCause, Overview } from './types.ts';

const DAY_MS = 24 * 3600_000;
/** Routers between two turns of the event loop: a few milliseconds. */
const ROUTERS_AT_ONCE = 5000;
const JOB_STATUSES = ['pending', 'running', 'completed', 'failed', 'deleted', 'expired', 'unknown'] as const;

export interface OverviewDeps {
  storage: Storage;
  clock: Clock;
  states: Pick<StatesService, 'ofTeam'>;
  routers: Pick<RoutersService, 'presence'>;
  gateway: Pick<AgentGateway, 'epoch'>;
}

/** A whole team in one answer. */
export class OverviewService {
  readonly #deps: OverviewDeps;

  constructor(deps: OverviewDeps) {
    this.#deps = deps;
  }

  /** In pieces with turns of the event loop between them: the largest teams have 20,000 routers and as many agents. */
  async of(teamId: string): Promise<Overview> {
    const { db } = this.#deps.storage;
    const agents = await selectLiveAgents(db, teamId);
    const agentCounts = this.#countAgents(agents);
    await nextTurn();
    const routers = this.#deps.states.ofTeam(teamId);
    const causes = await this.#withNames(teamId, await this.#causesOf(teamId, routers), agents);
    await nextTurn();
    const openFaults = await countOpenFaults(db, teamId);
    return {
      routers: countStates(routers),
      agents: agentCounts,
      openFaults,
      jobs: await this.#countJobs(teamId),
      openForwards: await countOpenForwards(db, teamId),
      openTerminals: await countOpenTerminals(db, teamId),
      runningCampaigns: await countRunningCampaigns(db, teamId),
      causes,
    };
  }

  /** Of a team whose routers answer, nothing more is read. A router that was removed meanwhile is left out. */
  async #causesOf(teamId: string, states: readonly StateOfRouter[]): Promise<UnnamedCause[]> {
    if (!hasCommonCause(states)) return [];
    const { storage, routers } = this.#deps;
    const stateOf = new Map(states.map((router) => [router.id, router]));
    const causes = new CommonCauses();
    await nextTurn();
    const placed = await selectPlacedRouters(storage.db, teamId);
    for (let from = 0; from < placed.length; from += ROUTERS_AT_ONCE) {
      await nextTurn();
      for (const { id, site_id: site, software_version: version } of placed.slice(from, from + ROUTERS_AT_ONCE)) {
        const state = stateOf.get(id);
        const address = routers.presence.get(id).lastSeenFrom;
        if (state) causes.add(state, { agent: state.agentId, site, address, version: plainVersion(version) });
      }
    }
    return causes.largest();
  }

  async #withNames(teamId: string, causes: readonly UnnamedCause[], agents: readonly KnownAgent[]): Promise<CommonCause[]> {
    const idsOf = (kind: string): Set<string> => new Set(causes.filter((cause) => cause.kind === kind).map(({ value }) => value));
    const [shownAgents, shownSites] = [idsOf('agent'), idsOf('site')];
    const names = await selectSiteNames(this.#deps.storage.db, teamId, [...shownSites]);
    for (const { id, name } of agents) if (shownAgents.has(id)) names.set(id, name);
    return causes.map((cause) => ({ ...cause, name: names.get(cause.value) ?? null }));
  }

  #countAgents(agents: readonly KnownAgent[]): Overview['agents'] {
    const counts = { connected: 0, away: 0, unseen: 0 };
    for (const { id, connected_at: connectedAt } of agents) {
      const isConnected = this.#deps.gateway.epoch(id) !== undefined;
      counts[isConnected ? 'connected' : connectedAt === null ? 'unseen' : 'away'] += 1;
    }
    return counts;
  }

  async #countJobs(teamId: string): Promise<Overview['jobs']> {
    const { storage, clock } = this.#deps;
    const since = clock.now() - DAY_MS;
    const counts: Record<string, number> = {};
    let isExact = true;
    for (const status of JOB_STATUSES) {
      await nextTurn();
      const total = await countJobs(storage.db, teamId, status, since);
      counts[status] = total.count;
      isExact &&= total.isExact;
    }
    return { counts, isExact };
  }
}
