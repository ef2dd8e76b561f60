import { notFound } from '../../platform/core/errors.ts';
import { FIRST_PAGE } from '../../platform/core/page.ts';
import type { Page } from '../../platform/core/page.ts';
import type { Storage } from '../../platform/storage/db.ts';
import { selectAgent, selectAgentNames, selectAgents } from './store.ts';
import type { Agent } from './types.ts';

export type { AgentHolders } from './holders.ts';
export type { WatchRights } from './watch-rights.ts';

/** Writes to the table of agents that other features make inside their own transactions. */
export {
  clearSiteOfRevoked,
  countAgents,
  hasLiveAgent,
  insertAgent,
  markRevokedAgentRemoved,
  replaceAgentCredential,
  revokeAgent,
  selectAgentCredentials,
  selectAgentSite,
  updateAgent,
} from './store.ts';

export type { AgentCredential } from './store.ts';

/** The agents of a team. Their credentials are in access/credentials, the epochs of their tunnels in {@link ./epochs.ts}. */
export class AgentsService {
  readonly #storage: Storage;

  constructor(storage: Storage) {
    this.#storage = storage;
  }

  /** Newest first. @param removed true: only removed agents */
  async list(teamId: string, page: Page = FIRST_PAGE, removed = false): Promise<Agent[]> {
    return selectAgents(this.#storage.db, teamId, page, removed);
  }

  /** Names by id, of those of these agents that are the team's. */
  async names(teamId: string, agentIds: readonly string[]): Promise<Map<string, string>> {
    return selectAgentNames(this.#storage.db, teamId, agentIds);
  }

  /** @throws AppError `not_found`, also for another team's agent */
  async get(teamId: string, agentId: string): Promise<Agent> {
    const agent = await selectAgent(this.#storage.db, teamId, agentId);
    if (!agent) throw notFound('agent');
    return agent;
  }
}
