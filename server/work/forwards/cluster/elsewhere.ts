import type { RoutersService } from '../../../fleet/routers/service.ts';
import type { AgentGateway } from '../../../platform/core/agent-gateway.ts';
import type { Clock } from '../../../platform/core/clock.ts';
import { AppError } from '../../../platform/core/errors.ts';
import { within } from '../../../platform/core/within.ts';
import type { Storage } from '../../../platform/storage/db.ts';
import { updateTerms } from '../store.ts';
import type { ForwardKey } from '../store.ts';
import { endForward, loseWay } from '../transitions.ts';
import type { ForwardMaker, ForwardRecord, ForwardRequest, ForwardTerms } from '../types.ts';
import type { Homes } from './homes.ts';
import { TOLD_MS } from './other-homes.ts';
import type { OtherHomes } from './other-homes.ts';
import { selectRecord } from './store.ts';
import type { ForwardCluster, OwnForwards } from './types.ts';

export interface ElsewhereDeps {
  cluster: Pick<ForwardCluster, 'nodeId' | 'members' | 'holder'>;
  storage: Storage;
  routers: Pick<RoutersService, 'getRouter'>;
  gateway: Pick<AgentGateway, 'epoch'>;
  clock: Clock;
  own: OwnForwards;
  homes: Homes;
  others: OtherHomes;
}

/** What is asked here about forwards whose home is another control plane: it is stored here, and the home goes by the record. */
export class Elsewhere {
  readonly #deps: ElsewhereDeps;

  constructor(deps: ElsewhereDeps) {
    this.#deps = deps;
  }

  /**
   * Has a forward created where its agent has its tunnel, if that is another control plane. One that gives its work away does not get it.
   * @returns its id; undefined when the forward is to be created here
   * @throws AppError as a creation does
   */
  async create(teamId: string, routerId: string, maker: ForwardMaker, request: ForwardRequest): Promise<string | undefined> {
    const { cluster, routers, others } = this.#deps;
    const { agent_id: agentId } = await routers.getRouter(teamId, routerId);
    const near = agentId === '' ? undefined : await this.#holder(agentId);
    const first = near !== undefined && cluster.members.ids.includes(near) ? near : cluster.nodeId;
    const home = cluster.members.takesWork(first) ? first : cluster.members.ownerOf(routerId);
    return home === cluster.nodeId ? undefined : others.create(home, teamId, routerId, maker, request);
  }

  async #holder(agentId: string): Promise<string | undefined> {
    const { cluster, gateway } = this.#deps;
    return gateway.epoch(agentId) === undefined ? cluster.holder(agentId) : cluster.nodeId;
  }

  /** @throws AppError `invalid` naming the field, `conflict` when the forward has ended */
  async change(stored: ForwardRecord, terms: ForwardTerms): Promise<void> {
    const { storage, clock, own, homes, others } = this.#deps;
    const key = { teamId: stored.team_id, id: stored.id };
    const now = clock.now();
    const change = own.columnsOf(terms, now);
    const record = await storage.writes.write((tx) => updateTerms(tx, key, now, change));
    if (!record) throw new AppError('conflict', 'the forward has ended');
    own.changes.publish({ kind: 'updated', forward: record });
    await Promise.all([homes.onChanged(key), others.changed(key, [record.node_id])]);
  }

  /** The home closes the port and cuts the connections. If it cannot be reached, the agent closes its channels, wherever they lead. */
  async revoke(record: ForwardRecord): Promise<void> {
    const { storage, clock, own, homes, others } = this.#deps;
    const key = { teamId: record.team_id, id: record.id };
    const agentId = await own.agentOf(record);
    const closed = await storage.writes.write((tx) => endForward(tx, key, clock.now(), 'revoked'));
    if (closed) own.changes.publish({ kind: 'closed', forward: closed });
    const told = Promise.all([homes.onChanged(key), others.changed(key, [record.node_id])]).then(() => undefined);
    await within(told, TOLD_MS);
    own.closeAtAgent({ id: record.id, agentId });
    await told;
  }

  /** The home asks the agent for another way. If it cannot be told, it finds in the database that the way is lost. */
  async tellLost(key: ForwardKey, agentId: string, reason: string): Promise<void> {
    const { storage, clock, own, others } = this.#deps;
    const record = await selectRecord(storage.db, key);
    if (record?.closed_at !== null || record.node_id === null || record.way === null) return;
    try {
      await others.lost(record.node_id, key, agentId, reason);
    } catch {
      const isItsAgent = (await own.agentOf(record)) === agentId;
      if (isItsAgent) await storage.writes.write((tx) => loseWay(tx, key, reason, clock.now()));
    }
  }
}
