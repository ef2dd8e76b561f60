import type { AgentGateway } from '../../platform/core/agent-gateway.ts';
import type { Clock } from '../../platform/core/clock.ts';
import { nextTurn } from '../../platform/core/loop-turns.ts';
import type { Storage } from '../../platform/storage/db.ts';
import { plainVersion } from '../../../routeros-text/versions.ts';
import type { RoutersService } from '../routers/service.ts';
import type { StatesService } from '../states/service.ts';
import { CommonCauses, hasCommonCause } from './causes.ts';
import type { UnnamedCause } from './causes.ts';
import {
  countJobs,
  countOpenFaults,
  countOpenForwards,
  countOpenTerminals,
  countRunningCampaigns,
  selectLiveAgents,
  selectNames,
  selectPlacedRouters,
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
  states: Pick<StatesService, 'find' | 'countsOf'>;
  routers: Pick<RoutersService, 'presence'>;
  gateway: Pick<AgentGateway, 'isConnected'>;
}

/** A whole team in one answer. */
export class OverviewService {
  readonly #deps: OverviewDeps;

  constructor(deps: OverviewDeps) {
    this.#deps = deps;
  }

  /** In pieces with turns of the event loop between them: the largest teams have 20,000 routers and as many agents. */
  async of(teamId: string): Promise<Overview> {
    // While PostgreSQL counts the jobs, the causes are looked for here.
    const [fleet, work] = await Promise.all([this.#fleetOf(teamId), this.#workOf(teamId)]);
    return { ...fleet, ...work };
  }

  async #fleetOf(teamId: string): Promise<Pick<Overview, 'routers' | 'agents' | 'causes'>> {
    const { states, storage } = this.#deps;
    const agents = await selectLiveAgents(storage.db, teamId);
    const agentCounts = this.#countAgents(agents);
    await nextTurn();
    const routers = states.countsOf(teamId);
    // Of a team whose routers answer, nothing more is read.
    const causes = hasCommonCause(routers) ? await this.#causesOf(teamId) : [];
    return { routers, agents: agentCounts, causes: await this.#withNames(teamId, causes) };
  }

  async #workOf(teamId: string): Promise<Omit<Overview, 'routers' | 'agents' | 'causes'>> {
    const { storage, clock } = this.#deps;
    const { db } = storage;
    return {
      jobs: await countJobs(db, teamId, JOB_STATUSES, clock.now() - DAY_MS),
      openFaults: await countOpenFaults(db, teamId),
      openForwards: await countOpenForwards(db, teamId),
      openTerminals: await countOpenTerminals(db, teamId),
      runningCampaigns: await countRunningCampaigns(db, teamId),
    };
  }

  /** A router that was removed meanwhile is left out. */
  async #causesOf(teamId: string): Promise<UnnamedCause[]> {
    const { storage, routers, states } = this.#deps;
    const causes = new CommonCauses();
    const versions = new PlainVersions();
    await nextTurn();
    const placed = await selectPlacedRouters(storage.db, teamId);
    for (let from = 0; from < placed.length; from += ROUTERS_AT_ONCE) {
      await nextTurn();
      for (const { id, siteId, version } of placed.slice(from, from + ROUTERS_AT_ONCE)) {
        const state = states.find(id);
        const address = routers.presence.get(id).lastSeenFrom;
        if (state) causes.add(state, { agent: state.agentId, site: siteId, address, version: versions.plain(version) });
      }
    }
    return causes.largest();
  }

  async #withNames(teamId: string, causes: readonly UnnamedCause[]): Promise<CommonCause[]> {
    const { db } = this.#deps.storage;
    const idsOf = (kind: string): string[] => [...new Set(causes.filter((cause) => cause.kind === kind).map(({ value }) => value))];
    const names = new Map([
      ...(await selectNames(db, 'sites', teamId, idsOf('site'))),
      ...(await selectNames(db, 'agents', teamId, idsOf('agent'))),
    ]);
    return causes.map((cause) => ({ ...cause, name: names.get(cause.value) ?? null }));
  }

  #countAgents(agents: readonly KnownAgent[]): Overview['agents'] {
    const counts = { connected: 0, away: 0, unseen: 0 };
    for (const { id, hasConnected } of agents) {
      const isConnected = this.#deps.gateway.isConnected(id);
      counts[isConnected ? 'connected' : hasConnected ? 'away' : 'unseen'] += 1;
    }
    return counts;
  }
}

/** A fleet has few versions, and each is read once. */
class PlainVersions {
  readonly #known = new Map<string, string>();

  plain(version: string): string {
    let plain = this.#known.get(version);
    if (plain === undefined) {
      plain = plainVersion(version);
      this.#known.set(version, plain);
    }
    return plain;
  }
}
