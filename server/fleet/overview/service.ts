import type { AgentGateway } from '../../platform/core/agent-gateway.ts';
import type { Clock } from '../../platform/core/clock.ts';
import type { Storage } from '../../platform/storage/db.ts';
import { plainVersion } from '../../../routeros-text/versions.ts';
import type { StatesService } from '../states/service.ts';
import type { RouterStateName } from '../states/types.ts';
import { commonCauses } from './causes.ts';
import type { KnownRouter } from './causes.ts';
import {
  countJobs,
  countOpenFaults,
  countOpenForwards,
  countRunningCampaigns,
  selectLiveAgents,
  selectPlacedRouters,
  selectSiteNames,
} from './store.ts';
import type { KnownAgent } from './store.ts';
import type { Overview } from './types.ts';

const DAY_MS = 24 * 3600_000;
const JOB_STATUSES = ['pending', 'running', 'completed', 'failed', 'deleted', 'expired', 'unknown'] as const;

export interface OverviewDeps {
  storage: Storage;
  clock: Clock;
  states: Pick<StatesService, 'of'>;
  gateway: Pick<AgentGateway, 'epoch'>;
}

/** A whole team in one answer. */
export class OverviewService {
  readonly #deps: OverviewDeps;

  constructor(deps: OverviewDeps) {
    this.#deps = deps;
  }

  async of(teamId: string): Promise<Overview> {
    const { db } = this.#deps.storage;
    const agents = await selectLiveAgents(db, teamId);
    const sites = await selectSiteNames(db, teamId);
    const routers = await this.#routersOf(teamId);
    const states: Record<RouterStateName, number> = { answering: 0, not_answering: 0, agent_away: 0, never_seen: 0 };
    for (const { state } of routers) states[state.state] += 1;
    const names = new Map([...sites, ...agents.map(({ id, name }) => [id, name] as const)]);
    return {
      routers: states,
      agents: this.#countAgents(agents),
      openFaults: await countOpenFaults(db, teamId),
      jobs: await this.#countJobs(teamId),
      openForwards: await countOpenForwards(db, teamId),
      runningCampaigns: await countRunningCampaigns(db, teamId),
      causes: commonCauses(routers, (_kind, value) => names.get(value) ?? null),
    };
  }

  /** With the state that every other answer shows. A router that was removed meanwhile has none. */
  async #routersOf(teamId: string): Promise<KnownRouter[]> {
    const { storage, states } = this.#deps;
    return (await selectPlacedRouters(storage.db, teamId)).flatMap((router) => {
      const state = states.of(router.id);
      const { agent_id: agent, site_id: site, last_seen_from: address } = router;
      return state ? [{ state, shares: { agent, site, address, version: plainVersion(router.software_version) } }] : [];
    });
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
      const total = await countJobs(storage.db, teamId, status, since);
      counts[status] = total.count;
      isExact &&= total.isExact;
    }
    return { counts, isExact };
  }
}
