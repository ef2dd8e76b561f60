import { AppError, notFound } from '../../platform/core/errors.ts';
import { Listeners } from '../../platform/core/listeners.ts';
import type { ForwardRecord } from '../../work/forwards/types.ts';
import type { JobRecord } from '../../work/jobs/types.ts';
import type { TerminalRecord } from '../../work/terminals/types.ts';
import type { RouterRecord } from '../routers/types.ts';
import type { Tx } from '../../platform/storage/db.ts';
import { resolveAllOf } from '../faults/service.ts';
import { reporterKey } from './heard-elsewhere.ts';
import type { Heard } from './heard-elsewhere.ts';
import { replaceInside } from './replacement/replace.ts';
import { moveFaults } from './replacement/store.ts';
import {
  endPresent,
  forgetDevices,
  isAgentRevoked,
  lockRouters,
  lockTeam,
  markAgentRemoved,
  markRemoved,
  deleteRemainingRecords,
  purgeSome,
  selectClaims,
  selectRoutersOf,
} from './store.ts';
import type { Ended, RemovalChange, RemovalsDeps, Replacement } from './types.ts';

/** Records of each kind deleted in one transaction: about ten milliseconds, during which other writes wait. */
const PURGE_AT_ONCE = 200;
/** Routers that an error message names. */
const MOST_TOLD = 5;

/** The changes of the transaction, published once it is stored. */
interface Written {
  router: RouterRecord;
  /** Undefined when it was already removed. */
  change: RemovalChange | undefined;
  jobs: JobRecord[];
  forwards: ForwardRecord[];
  terminals: TerminalRecord[];
}

/** Removes routers from a team. Their history stays until it is purged. */
export class RemovalsService {
  /** Published after the change is stored. */
  readonly changes = new Listeners<RemovalChange>();
  readonly #deps: RemovalsDeps;

  constructor(deps: RemovalsDeps) {
    this.#deps = deps;
  }

  /**
   * Removes a router, its queued jobs and its open forwards; idempotent. A router that its agent may still have is not
   * removed: it would return as a new router with the next inventory.
   * @throws AppError `not_found`; `conflict` while an agent may have it, or has accepted a job for it; `unavailable` while another control
   *   plane has the tunnel of such an agent and does not answer
   */
  async removeRouter(teamId: string, routerId: string): Promise<{ router: RouterRecord; ended: Ended }> {
    const heard = await this.#hear(teamId, [routerId]);
    const now = this.#deps.clock.now();
    const written = await this.#deps.storage.writes.write((tx) => this.#remove(tx, { teamId, routerId, now }, heard));
    const ended = await this.#publish(written);
    if (written.change) await this.#deps.storage.writes.write((tx) => resolveAllOf(tx, { teamId, routerId, now }));
    return { router: written.router, ended };
  }

  /** Deletes the history of a removed router. Repeat the call to finish an interrupted deletion. */
  async purgeRouter(teamId: string, routerId: string): Promise<void> {
    const { writes } = this.#deps.storage;
    while (await writes.write((tx) => purgeSome(tx, teamId, routerId, PURGE_AT_ONCE)));
    await writes.write((tx) => deleteRemainingRecords(tx, teamId, routerId));
  }

  /**
   * Replaces a router's hardware with that of another record, which is merged into it and no longer shown.
   * @throws AppError as {@link replaceInside}; `unavailable` as {@link removeRouter}
   */
  async replaceRouter(
    wanted: Omit<Replacement, 'now' | 'heard'>,
  ): Promise<{ change: Extract<RemovalChange, { kind: 'replaced' }>; ended: Ended }> {
    const { storage, clock } = this.#deps;
    const { teamId, routerId, replacedBy } = wanted;
    const heard = await this.#hear(teamId, [routerId, replacedBy]);
    const written = await storage.writes.write((tx) => replaceInside(tx, this.#deps, { ...wanted, now: clock.now(), heard }));
    const ended = await this.#publish(written);
    // Detected while this was being stored.
    await storage.writes.write((tx) => moveFaults(tx, teamId, replacedBy, routerId));
    return { change: written.change, ended };
  }

  /**
   * Removes the routers of a revoked agent one by one, and then the agent. Repeat the call to finish an interrupted removal.
   * @returns how many routers were removed
   * @throws AppError `conflict` naming the routers that cannot be removed now; the others are removed, the agent is not
   */
  async removeAgent(teamId: string, agentId: string): Promise<number> {
    const { storage, clock } = this.#deps;
    const routers = await selectRoutersOf(storage.db, teamId, agentId);
    const kept: string[] = [];
    for (const { id, identity } of routers) {
      await this.removeRouter(teamId, id).catch((error: unknown) => {
        // Moved to another agent or removed in the meantime.
        if (error instanceof AppError && error.code === 'not_found') return;
        if (!(error instanceof AppError) || error.code !== 'conflict') throw error;
        kept.push(`${identity} (${id}): ${error.message}`);
      });
    }
    if (kept.length > 0)
      throw new AppError(
        'conflict',
        `the agent is revoked, and ${kept.length} of its routers cannot be removed yet: ${kept.slice(0, MOST_TOLD).join('; ')}`,
      );
    const isGone = await storage.writes.write((tx) => markAgentRemoved(tx, { teamId, agentId, now: clock.now() }));
    if (!isGone) throw new AppError('conflict', 'the agent has received another router in the meantime; try again');
    return routers.length;
  }

  /** Before the transaction, which must not wait for another control plane. */
  async #hear(teamId: string, routerIds: readonly string[]): Promise<ReadonlyMap<string, Heard>> {
    return (await this.#deps.heardElsewhere?.of(teamId, routerIds)) ?? new Map();
  }

  async #remove(tx: Tx, target: { teamId: string; routerId: string; now: number }, heard: ReadonlyMap<string, Heard>): Promise<Written> {
    const { teamId, routerId } = target;
    await lockTeam(tx, teamId);
    const [router] = await lockRouters(tx, this.#deps.storage.engine, teamId, [routerId]);
    if (!router || router.merged_into !== null) throw notFound('router');
    if (router.removed_at !== null) return { router, change: undefined, jobs: [], forwards: [], terminals: [] };
    const agentRevoked = await isAgentRevoked(tx, teamId, router.agent_id);
    const why = agentRevoked ? undefined : this.#whyHeld(router.agent_id, router.agent_router, heard);
    if (why !== undefined) throw new AppError('conflict', why);
    await this.#refuseClaimed(tx, router, heard);
    const jobs = await this.#deps.jobs.endJobsOf(tx, {
      ...target,
      agentRevoked,
      reason: 'router_removed',
      error: 'the router was removed',
    });
    const forwards = await this.#deps.forwards.closeAllOf(tx, teamId, [routerId]);
    const terminals = await this.#deps.terminals.endAllOf(tx, teamId, [routerId]);
    await endPresent(tx, target);
    await forgetDevices(tx, teamId, routerId);
    const removed = await markRemoved(tx, target);
    return { router: removed, change: { kind: 'removed', router: removed }, jobs, forwards, terminals };
  }

  /** Why an agent may still have a router under this name; undefined when it certainly has not. */
  #whyHeld(agentId: string, name: string, heard: ReadonlyMap<string, Heard>): string | undefined {
    const elsewhere = heard.get(reporterKey(agentId, name));
    return elsewhere ? (elsewhere.whyHeld ?? undefined) : this.#deps.routers.reasonStillHeld(agentId, name);
  }

  /** @throws AppError `conflict` when another agent also reports the router and may have it now */
  async #refuseClaimed(tx: Tx, { team_id: teamId, id }: RouterRecord, heard: ReadonlyMap<string, Heard>): Promise<void> {
    for (const { agent_id: agentId, agent_router: name } of await selectClaims(tx, teamId, id)) {
      if (this.#whyHeld(agentId, name, heard) === undefined) continue;
      throw new AppError(
        'conflict',
        `agent ${agentId} also reports this router: remove it from that agent's configuration, or revoke that agent (GET /api/router-moves)`,
      );
    }
  }

  async #publish({ change, jobs, forwards, terminals }: Written): Promise<Ended> {
    if (change) this.changes.publish(change);
    for (const job of jobs) this.#deps.jobs.changes.publish(job);
    await this.#deps.forwards.cut(forwards);
    await this.#deps.terminals.cut(terminals);
    const jobsUnknown = jobs.filter(({ phase }) => phase === 'unknown').length;
    return { jobsCanceled: jobs.length - jobsUnknown, jobsUnknown, forwardsClosed: forwards.length };
  }
}
