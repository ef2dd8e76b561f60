import type { AgentConnection } from '../../platform/core/agent-gateway.ts';
import { Gathered } from '../../platform/core/gathered.ts';
import type { Storage } from '../../platform/storage/db.ts';
import { selectClaimers } from './moves/store.ts';
import { selectRoutersOfAgents } from './store.ts';
import type { RouterRecord } from './types.ts';

/** Agents whose routers are read by one statement; most have a few routers, and none more than 1,000 (limits.ts). */
const AGENTS_AT_ONCE = 100;

/** What the database knows of the routers of an agent that connects. */
export interface KnownRouters {
  /** How many it has, or was the last to have. */
  held: number;
  /** Ids by the agent's names. */
  ids: Map<string, string>;
  /** Records by the agent's names. Empty while it has claims on routers: what it reports then decides about them. */
  records: Map<string, RouterRecord>;
}

/** Reads the routers of agents that connect, together of those that connect at the same time. */
export class OpeningReads {
  readonly #reads: Gathered<AgentConnection, KnownRouters>;

  constructor({ db }: Storage, agentsApartMs = 0) {
    this.#reads = new Gathered({
      most: AGENTS_AT_ONCE,
      apartMs: agentsApartMs,
      run: async (connections) => {
        const agentIds = connections.map(({ agentId }) => agentId);
        const routers = await selectRoutersOfAgents(db, agentIds);
        const claimers = await selectClaimers(db, agentIds);
        return connections.map(({ agentId, teamId }) => {
          const own = (routers.get(agentId) ?? []).filter((router) => router.team_id === teamId);
          return knownRouters(own, claimers.has(agentId));
        });
      },
    });
  }

  /** @throws AppError when the database cannot be used */
  of(connection: AgentConnection): Promise<KnownRouters> {
    return this.#reads.call(connection);
  }

  stop(): Promise<void> {
    return this.#reads.stop();
  }
}

function knownRouters(routers: readonly RouterRecord[], hasClaims: boolean): KnownRouters {
  const named = routers.filter((router) => router.agent_router !== '');
  return {
    held: routers.length,
    ids: new Map(named.map((router) => [router.agent_router, router.id])),
    records: new Map(hasClaims ? [] : named.map((router) => [router.agent_router, router])),
  };
}
