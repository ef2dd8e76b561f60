import { setImmediate } from 'node:timers/promises';
import { z } from 'zod';
import { publishList } from '../../../platform/bus/publish-list.ts';
import type { Bus } from '../../../platform/bus/types.ts';
import type { Clock } from '../../../platform/core/clock.ts';
import type { Log } from '../../../platform/core/log.ts';
import { Periodic } from '../../../platform/core/periodic.ts';
import type { Members } from '../../../platform/nodes/members.ts';
import type { Storage } from '../../../platform/storage/db.ts';
import { selectAgentsWithExpressJobs } from './store.ts';

/** Where several control planes serve the database. */
export interface JobsCluster {
  nodeId: string;
  bus: Pick<Bus, 'publish' | 'listen'>;
  members: Pick<Members, 'isOwn'>;
}

const WAITING = 'signalbox.jobs.waiting';
/** How late the offer of an express job is when its hint was lost. */
const POLL_EVERY_MS = 5000;
/** Of one hint: 40 kB. */
const HINTED_AT_ONCE = 500;

/** Agents with an express job that waits, each with a router that is free, or with none. */
const hint = z.object({ waiting: z.array(z.tuple([z.string(), z.string().nullable()])).max(HINTED_AT_ONCE) });

export interface ElsewhereDeps {
  storage: Storage;
  clock: Clock;
  log: Log;
  cluster: JobsCluster;
  /** Offers jobs to agents of this control plane; does nothing for others. */
  dispatcher: {
    readonly hasNoAgents: boolean;
    expressIsWaiting(agentId: string): void;
    routerIsFree(agentId: string, routerId: string): void;
  };
}

/**
 * Jobs whose agents have their tunnels with other control planes. A hint says that an agent has an express job waiting, or that some of its routers are
 * free; whoever has its tunnel looks into the database and offers what is there. A poll finds express jobs whose hint was lost. Other jobs
 * wait for the check-in of their router anyway, which comes to whoever has the tunnel.
 */
export class JobsElsewhere {
  readonly #deps: ElsewhereDeps;
  readonly #polls: Periodic;
  /** By agent, until it is told: routers that are free, or null for an express job. */
  #untold = new Map<string, Set<string | null>>();
  #telling: Promise<void> | undefined;

  constructor(deps: ElsewhereDeps) {
    const { clock, log, cluster, dispatcher } = deps;
    this.#deps = deps;
    this.#polls = new Periodic({
      clock,
      log,
      everyMs: POLL_EVERY_MS,
      failure: 'the poll for express jobs of other control planes failed',
      run: () => this.#poll(),
    });
    cluster.bus.listen(WAITING, (value) => {
      for (const [agentId, routerId] of hint.parse(value).waiting) {
        if (routerId === null) dispatcher.expressIsWaiting(agentId);
        else dispatcher.routerIsFree(agentId, routerId);
      }
    });
  }

  start(): void {
    this.#polls.start();
  }

  async stop(): Promise<void> {
    await this.#polls.stop();
    await this.#telling;
  }

  /** @param freeRouterId a router of the agent whose job is finished */
  tell(agentId: string, freeRouterId: string | null = null): void {
    const routerIds = this.#untold.get(agentId) ?? new Set();
    this.#untold.set(agentId, routerIds.add(freeRouterId));
    this.#telling ??= this.#tellAll();
  }

  /** What is told in one turn of the event loop shares hints: a campaign makes hundreds of jobs in one transaction. */
  async #tellAll(): Promise<void> {
    await setImmediate();
    const waiting = [...this.#untold].flatMap(([agentId, routerIds]) => [...routerIds].map((routerId) => [agentId, routerId] as const));
    this.#untold = new Map();
    this.#telling = undefined;
    publishList(this.#deps.cluster.bus, WAITING, waiting, { most: HINTED_AT_ONCE, hintOf: (some) => ({ waiting: some }) });
  }

  async #poll(): Promise<void> {
    const { storage, clock, cluster, dispatcher } = this.#deps;
    // Nobody to offer a job to.
    if (dispatcher.hasNoAgents) return;
    for (const agentId of await selectAgentsWithExpressJobs(storage.db, cluster.nodeId, clock.now())) dispatcher.expressIsWaiting(agentId);
  }
}
