import type { DbOrTx } from '../../platform/storage/db.ts';
import { selectNotHeldElsewhere, selectRoutersNotHeldElsewhere } from './holders/store.ts';

/**
 * Of which agents a control plane may write facts where several serve the database: the one that has the agent's tunnel, or anyone while nobody
 * has it. One that does not count any more may write nothing. Each write asks in its own transaction, so that a control plane that believes
 * something else does no harm.
 */
export class WatchRights {
  readonly #nodeId: string;

  constructor(nodeId: string) {
    this.#nodeId = nodeId;
  }

  /** Those of these agents of which facts may be written. */
  ofAgents(db: DbOrTx, agentIds: readonly string[]): Promise<Set<string>> {
    return selectNotHeldElsewhere(db, this.#nodeId, agentIds);
  }

  /** Those of these routers whose agents are such. */
  ofRouters(db: DbOrTx, routerIds: readonly string[]): Promise<Set<string>> {
    return selectRoutersNotHeldElsewhere(db, this.#nodeId, routerIds);
  }
}
