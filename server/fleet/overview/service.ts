import type { AgentGateway } from '../../platform/core/agent-gateway.ts';
import type { Clock } from '../../platform/core/clock.ts';
import { nextTurn } from '../../platform/core/loop-turns.ts';
import type { Page } from '../../platform/core/page.ts';
import type { Storage } from '../../platform/storage/db.ts';
import { plainVersion } from '../../../routeros-text/versions.ts';
import type { StatesService } from '../states/service.ts';
import type { RouterStateName } from '../states/types.ts';
import { CAUSE_KINDS, commonCauses } from './causes.ts';
import type { KnownRouter, UnnamedCause } from './causes.ts';
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
/** Routers of one piece: some ten milliseconds on SQLite. */
const ROUTERS_AT_ONCE = 2000;
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

  /** In pieces with turns of the event loop between them: the largest teams have 20,000 routers and as many agents. */
  async of(teamId: string): Promise<Overview> {
    const { db } = this.#deps.storage;
    const agents = await selectLiveAgents(db, teamId);
    const agentCounts = this.#countAgents(agents);
    const routers = await this.#routersOf(teamId);
    await nextTurn();
    const states: Record<RouterStateName, number> = { answering: 0, not_answering: 0, agent_away: 0, never_seen: 0 };
    for (const { state } of routers) states[state.state] += 1;
    const causes = await this.#withNames(teamId, await this.#causesOf(routers), agents);
    await nextTurn();
    const openFaults = await countOpenFaults(db, teamId);
    return {
      routers: states,
      agents: agentCounts,
      openFaults,
      jobs: await this.#countJobs(teamId),
      openForwards: await countOpenForwards(db, teamId),
      openTerminals: await countOpenTerminals(db, teamId),
      runningCampaigns: await countRunningCampaigns(db, teamId),
      causes,
    };
  }

  async #causesOf(routers: readonly KnownRouter[]): Promise<UnnamedCause[]> {
    const causes: UnnamedCause[] = [];
    for (const kind of CAUSE_KINDS) {
      await nextTurn();
      causes.push(...commonCauses(routers, kind));
    }
    return causes;
  }

  async #withNames(teamId: string, causes: readonly UnnamedCause[], agents: readonly KnownAgent[]): Promise<CommonCause[]> {
    const idsOf = (kind: string): Set<string> => new Set(causes.filter((cause) => cause.kind === kind).map(({ value }) => value));
    const [shownAgents, shownSites] = [idsOf('agent'), idsOf('site')];
    const names = await selectSiteNames(this.#deps.storage.db, teamId, [...shownSites]);
    for (const { id, name } of agents) if (shownAgents.has(id)) names.set(id, name);
    return causes.map((cause) => ({ ...cause, name: names.get(cause.value) ?? null }));
  }

  /** With the state that every other answer shows. A router that was removed meanwhile has none. */
  async #routersOf(teamId: string): Promise<KnownRouter[]> {
    const { storage, states } = this.#deps;
    const known: KnownRouter[] = [];
    let before: Page['before'];
    do {
      await nextTurn();
      const page = await selectPlacedRouters(storage.db, teamId, { before, limit: ROUTERS_AT_ONCE });
      for (const router of page) {
        const state = states.of(router.id);
        const { agent_id: agent, site_id: site, last_seen_from: address } = router;
        if (state) known.push({ state, shares: { agent, site, address, version: plainVersion(router.software_version) } });
      }
      const last = page.at(-1);
      before = page.length === ROUTERS_AT_ONCE && last ? { at: last.created_at, id: last.id } : undefined;
    } while (before !== undefined);
    return known;
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
