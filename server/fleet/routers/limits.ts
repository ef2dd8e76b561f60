import { MAX_ROUTERS_PER_AGENT } from '../../../protocol/index.ts';
import type { Inventory } from '../../../protocol/index.ts';
import type { AgentConnection } from '../../platform/core/agent-gateway.ts';
import type { Clock } from '../../platform/core/clock.ts';
import type { Counters } from '../../platform/core/counters.ts';
import { AppError } from '../../platform/core/errors.ts';
import type { Storage } from '../../platform/storage/db.ts';
import { countRouters, isKnownRouter } from './store.ts';
import { FewSet } from '../../platform/core/few.ts';

/**
 * Routers that one agent may bring, including those that others have replaced under the same names: each name once.
 * Otherwise an agent could invent any number of routers under a single name.
 */
export const MAX_ROUTERS_EVER_PER_AGENT = 2 * MAX_ROUTERS_PER_AGENT;

/** The largest fleets of one operator have about ten thousand routers; a setting overrides it. */
export const DEFAULT_MAX_PER_TEAM = 20_000;

/** How often the routers of a team at its limit are counted again, milliseconds. */
const COUNT_AGAIN_MS = 60_000;

type RouterLimit = 'routers_per_agent' | 'routers_per_team';

/** The routers of one agent. */
interface Brought {
  /** Names with an inventory on its present tunnel. */
  named: FewSet<string>;
  /** Routers that it has, or was the last to have. */
  held: number;
}

export interface RouterLimitsDeps {
  storage: Storage;
  clock: Clock;
  counters?: Counters | undefined;
  maxPerTeam?: number | undefined;
}

/** Limits how many routers agents may name and teams may have. Known routers are still updated when a limit is reached. */
export class RouterLimits {
  readonly #deps: RouterLimitsDeps;
  readonly #maxPerTeam: number;
  /** By agent, while it has a tunnel. */
  readonly #brought = new Map<string, Brought>();
  /** By team, counted when first needed and then updated. */
  readonly #counts = new Map<string, { routers: number; countedAt: number }>();
  /** Counts that are under way, by team: hundreds of agents report their first router at the same time. */
  readonly #counting = new Map<string, Promise<number>>();

  constructor(deps: RouterLimitsDeps) {
    this.#deps = deps;
    this.#maxPerTeam = deps.maxPerTeam ?? DEFAULT_MAX_PER_TEAM;
  }

  /** The agent's new tunnel is ready. @param held routers that it has, or was the last to have */
  begin({ agentId }: AgentConnection, held: number): void {
    this.#brought.set(agentId, { named: new FewSet(), held });
  }

  end(agentId: string): void {
    this.#brought.delete(agentId);
  }

  /**
   * @param isKnown whether it is known already that the team has this router; otherwise the database is asked at a limit
   * @throws AppError `quota_exceeded` when the agent or its team has reached its limit of routers
   */
  async check(connection: AgentConnection, { router: name, facts }: Inventory, isKnown: boolean): Promise<void> {
    const { named, held } = this.#of(connection.agentId);
    if (!named.has(name) && named.size >= MAX_ROUTERS_PER_AGENT) throw this.#refusal('routers_per_agent');
    if (isKnown) return;
    const limit = held >= MAX_ROUTERS_EVER_PER_AGENT ? 'routers_per_agent' : await this.#limitOfTeam(connection.teamId);
    if (limit === undefined || (await isKnownRouter(this.#deps.storage.db, connection.teamId, facts.hardware_id))) return;
    throw this.#refusal(limit);
  }

  /** Counts a router that was accepted, new or known. */
  count({ teamId, agentId }: AgentConnection, name: string, isNew: boolean): void {
    const brought = this.#of(agentId);
    brought.named.add(name);
    if (!isNew) return;
    brought.held += 1;
    const team = this.#counts.get(teamId);
    if (team) team.routers += 1;
  }

  #of(agentId: string): Brought {
    const brought = this.#brought.get(agentId) ?? { named: new FewSet(), held: 0 };
    this.#brought.set(agentId, brought);
    return brought;
  }

  async #limitOfTeam(teamId: string): Promise<RouterLimit | undefined> {
    const { storage, clock } = this.#deps;
    let team = this.#counts.get(teamId);
    const isStale = team !== undefined && team.routers >= this.#maxPerTeam && clock.monotonic() - team.countedAt >= COUNT_AGAIN_MS;
    if (!team || isStale) {
      const counting = this.#counting.get(teamId) ?? countRouters(storage.db, teamId, this.#maxPerTeam);
      this.#counting.set(teamId, counting);
      const routers = await counting.finally(() => this.#counting.delete(teamId));
      const known = this.#counts.get(teamId);
      // Another report has taken this count over and may have added to it.
      team = known && known !== team ? known : { routers, countedAt: clock.monotonic() };
      this.#counts.set(teamId, team);
    }
    return team.routers < this.#maxPerTeam ? undefined : 'routers_per_team';
  }

  #refusal(limit: RouterLimit): AppError {
    this.#deps.counters?.add(limit);
    const whose = limit === 'routers_per_agent' ? 'the agent' : 'the team';
    return new AppError('quota_exceeded', `the router was rejected: ${whose} has reached its limit of routers`);
  }
}
