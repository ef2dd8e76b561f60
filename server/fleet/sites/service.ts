import type { Clock } from '../../platform/core/clock.ts';
import type { Counters } from '../../platform/core/counters.ts';
import { AppError, invalidField, notFound } from '../../platform/core/errors.ts';
import { newId } from '../../platform/core/ids.ts';
import { Listeners } from '../../platform/core/listeners.ts';
import { FIRST_PAGE } from '../../platform/core/page.ts';
import type { Page } from '../../platform/core/page.ts';
import { checkQuota, QUOTAS } from '../../platform/core/quotas.ts';
import { removeInBatches } from '../../platform/core/removal-batches.ts';
import type { Storage, Tx } from '../../platform/storage/db.ts';
import { selectAgentSite, updateAgent } from '../agents/service.ts';
import { checkSite, NOWHERE } from './checks.ts';
import {
  countAtSite,
  countSites,
  deleteDevicesAt,
  deleteSite,
  insertSite,
  isForeignKey,
  isUnique,
  lockTeam,
  moveRouter,
  selectRoutersAt,
  selectSite,
  selectSiteById,
  selectSites,
  siteExists,
  updateSite,
} from './store.ts';
import type { AgentUpdate, NewSite, Site, SiteChange, SiteEvent } from './types.ts';

export interface AgentChange {
  /** Null: in no site. */
  siteId?: string | null;
  name?: string;
}

export interface RouterAtSite {
  teamId: string;
  routerId: string;
  siteId: string | null;
}

/** The sites of a team, and which routers and agents are at them. */
export class SitesService {
  /** A router stands at another site from now on, or at none. */
  readonly moves = new Listeners<RouterAtSite>();
  readonly changes = new Listeners<SiteEvent>();
  readonly agentUpdates = new Listeners<AgentUpdate>();
  readonly #storage: Storage;
  readonly #clock: Clock;
  readonly #counters: Counters | undefined;

  constructor({ storage, clock, counters }: { storage: Storage; clock: Clock; counters?: Counters | undefined }) {
    this.#storage = storage;
    this.#clock = clock;
    this.#counters = counters;
  }

  /** @throws AppError `invalid` for a bad field, `conflict` for a name in use in this team, `quota_exceeded` */
  async create(site: NewSite): Promise<Site> {
    const createdAt = this.#clock.now();
    const record = checkSite({ id: newId(createdAt), createdAt, ...NOWHERE, teamId: site.teamId }, site);
    await this.#storage.writes.write(async (tx) => {
      await lockTeam(tx, site.teamId);
      checkQuota(this.#counters, 'sites_per_team', await countSites(tx, site.teamId, QUOTAS.sites_per_team.most));
      await insertSite(tx, record).catch(nameConflict(record));
    });
    this.#tell('created', record);
    return record;
  }

  /** @throws AppError `not_found`, `invalid` for a bad field, `conflict` for a name in use in this team */
  async change(teamId: string, siteId: string, change: SiteChange): Promise<Site> {
    const site = checkSite(await this.get(teamId, siteId), change);
    await updateSite(this.#storage.db, site).catch(nameConflict(site));
    this.#tell('updated', site);
    return site;
  }

  /**
   * Also removes the site from every notification group.
   * @throws AppError `not_found`; `conflict` while the site has routers or agents
   */
  async delete(teamId: string, siteId: string): Promise<void> {
    // Its devices first, in batches: there may be thousands, and each has entries in the index for searches.
    const removeDevices = async (tx: Tx, limit: number): Promise<number> => {
      await checkUnused(tx, teamId, siteId);
      return deleteDevicesAt(tx, { teamId, siteId, limit });
    };
    await removeInBatches(this.#storage, removeDevices, { isAwaited: true });
    const removed = this.#storage.writes.write(async (tx) => {
      const site = await checkUnused(tx, teamId, siteId);
      await deleteSite(tx, teamId, siteId);
      return site;
    });
    const site = await removed.catch((error: unknown) => {
      throw isForeignKey(error) ? new AppError('conflict', 'a router or agent has just moved to this site', { cause: error }) : error;
    });
    this.#tell('removed', site);
  }

  /** @throws AppError `not_found`, also for another team's site */
  async get(teamId: string, siteId: string): Promise<Site> {
    const site = await selectSiteById(this.#storage.db, teamId, siteId);
    if (!site) throw notFound('site');
    return site;
  }

  /** @throws AppError `not_found`, also for another team's site */
  async find(teamId: string, idOrName: string): Promise<Site> {
    const site = await selectSite(this.#storage.db, teamId, idOrName);
    if (!site) throw notFound(`site ${idOrName}`);
    return site;
  }

  async list(teamId: string, page: Page = FIRST_PAGE): Promise<Site[]> {
    return selectSites(this.#storage.db, teamId, page);
  }

  /**
   * The devices behind the router move with it. Jobs keep the site they were submitted for.
   * @throws AppError `not_found`, also for another team's router; `invalid` for a site that is not the team's
   */
  async moveRouter(teamId: string, routerId: string, siteId: string | null): Promise<void> {
    const now = this.#clock.now();
    await this.#checkExists(teamId, siteId);
    const move = { teamId, routerId, siteId, now, newId: () => newId(now) };
    const moved = await this.#write((tx) => moveRouter(tx, move));
    if (!moved) throw notFound('router');
    this.moves.publish({ teamId, routerId, siteId });
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
      await this.#checkExists(teamId, siteId);
      // Each in a transaction of its own and the agent last: repeating the request finishes an interrupted move.
      for (const routerId of await selectRoutersAt(db, teamId, agentId, agent.site_id)) await this.moveRouter(teamId, routerId, siteId);
    }
    const change = { ...(siteId === undefined ? {} : { site_id: siteId }), ...(name === undefined ? {} : { name }) };
    if (Object.keys(change).length === 0) return;
    await this.#write((tx) => updateAgent(tx, teamId, agentId, change));
    this.agentUpdates.publish({ teamId, agentId, changed: change });
  }

  #tell(kind: SiteEvent['kind'], { id: siteId, teamId, name }: Site): void {
    this.changes.publish({ kind, teamId, siteId, name });
  }

  async #checkExists(teamId: string, siteId: string | null): Promise<void> {
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

/** @throws AppError `conflict` instead of a unique violation */
function nameConflict(site: Site): (error: unknown) => never {
  return (error) => {
    throw isUnique(error) ? new AppError('conflict', `a site named ${site.name} already exists`, { cause: error }) : error;
  };
}

/** The site, which has neither routers nor agents. @throws AppError `not_found`; `conflict` */
async function checkUnused(tx: Tx, teamId: string, siteId: string): Promise<Site> {
  const site = await selectSiteById(tx, teamId, siteId);
  if (!site) throw notFound('site');
  const { routers, agents } = await countAtSite(tx, teamId, siteId);
  if (routers + agents > 0) throw new AppError('conflict', `this site still has ${routers} routers and ${agents} agents`);
  return site;
}
