import type { Clock } from '../../platform/core/clock.ts';
import { invalidField, notFound } from '../../platform/core/errors.ts';
import type { AppError } from '../../platform/core/errors.ts';
import { newId } from '../../platform/core/ids.ts';
import type { Storage, Tx } from '../../platform/storage/db.ts';
import { selectAgentSite, updateAgent } from '../agents/service.ts';
import { isForeignKey, moveRouter, selectRoutersAt, siteExists } from './store.ts';

export interface AgentChange {
  /** Null: in no site. */
  siteId?: string | null;
  name?: string;
}

/** Moves routers and agents between sites. */
export class SitesService {
  readonly #storage: Storage;
  readonly #clock: Clock;

  constructor({ storage, clock }: { storage: Storage; clock: Clock }) {
    this.#storage = storage;
    this.#clock = clock;
  }

  /**
   * The devices behind the router move with it. Jobs keep the site they were submitted for.
   * @throws AppError `not_found`, also for another team's router; `invalid` for a site that is not the team's
   */
  async moveRouter(teamId: string, routerId: string, siteId: string | null): Promise<void> {
    const now = this.#clock.now();
    await this.#checkSite(teamId, siteId);
    const move = { teamId, routerId, siteId, now, newId: () => newId(now) };
    const moved = await this.#write((tx) => moveRouter(tx, move));
    if (!moved) throw notFound('router');
  }

  /**
   * Routers at the agent's former site move with it; routers at another site stay there.
   * @throws AppError `not_found`, also for another team's agent; `invalid` for a site that is not the team's
   */
  async changeAgent(teamId: string, agentId: string, { siteId, name }: AgentChange): Promise<void> {
    const { db } = this.#storage;
    const agent = await selectAgentSite(db, teamId, agentId);
    if (!agent) throw notFound('agent');
    if (siteId !== undefined && siteId !== agent.site_id) {
      await this.#checkSite(teamId, siteId);
      // Each in a transaction of its own and the agent last: repeating the request finishes an interrupted move.
      for (const routerId of await selectRoutersAt(db, teamId, agentId, agent.site_id)) await this.moveRouter(teamId, routerId, siteId);
    }
    const change = { ...(siteId === undefined ? {} : { site_id: siteId }), ...(name === undefined ? {} : { name }) };
    if (Object.keys(change).length > 0) await this.#write((tx) => updateAgent(tx, teamId, agentId, change));
  }

  async #checkSite(teamId: string, siteId: string | null): Promise<void> {
    if (siteId !== null && !(await siteExists(this.#storage.db, teamId, siteId))) throw noSuchSite();
  }

  /** The site may have been deleted since it was checked. */
  async #write<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    try {
      return await this.#storage.writes.write(work);
    } catch (error) {
      throw isForeignKey(error) ? noSuchSite() : error;
    }
  }
}

function noSuchSite(): AppError {
  return invalidField('site_id', 'is not a site of this team');
}
