import { RoutersService } from '../../../server/fleet/routers/service.ts';
import type { Storage } from '../../../server/platform/storage/db.ts';
import { FaultsBench } from '../faults-bench.ts';
import type { ManualClock } from '../manual-clock.ts';
import { seedRouter } from '../seed.ts';
import type { SeededRouter } from '../seed.ts';
import { silentLog } from '../silent-log.ts';

const HEARTBEAT_MS = 30_000;
const OFFLINE_AFTER_MS = 75_000;

/** An agent with many routers, whose faults come from the real feature. */
export class AgentWithRouters {
  readonly #clock: ManualClock;
  readonly #faults: FaultsBench;
  readonly #connection: { agentId: string; teamId: string; epoch: number; address: string; reset: boolean };
  readonly #routerIds: readonly string[];

  private constructor(clock: ManualClock, faults: FaultsBench, first: SeededRouter, routerIds: readonly string[]) {
    this.#clock = clock;
    this.#faults = faults;
    this.#connection = { agentId: first.agentId, teamId: first.teamId, epoch: 1, address: '198.51.100.7', reset: false };
    this.#routerIds = routerIds;
  }

  /** They answer. @param first one of them, with the team and the agent */
  static async start(storage: Storage, clock: ManualClock, first: SeededRouter, count: number): Promise<AgentWithRouters> {
    const routerIds = [first.routerId];
    for (let n = 1; n < count; n += 1)
      routerIds.push((await seedRouter(storage, { teamId: first.teamId, agentId: first.agentId })).routerId);
    const routers = new RoutersService({ storage, clock, log: silentLog, rules: { offlineAfterMs: OFFLINE_AFTER_MS } });
    const rules = { heartbeatMs: HEARTBEAT_MS, offlineAfterMs: OFFLINE_AFTER_MS };
    const faults = new FaultsBench({ storage, clock, log: silentLog, rules, routers });
    await faults.start();
    const agent = new AgentWithRouters(clock, faults, first, routerIds);
    await faults.onReady(agent.#connection);
    for (const id of routerIds) faults.onInventory(agent.#connection, await routers.getRouter(first.teamId, id));
    agent.#heartbeat();
    return agent;
  }

  /** The agent is killed, and the time goes by after which that is a fault. Resolves when it is stored. */
  async kill(): Promise<void> {
    this.#faults.onGone(this.#connection);
    this.#clock.advance(2 * OFFLINE_AFTER_MS);
    await this.#faults.stored();
  }

  /** Agent and routers are back. Resolves when the ends of the faults are stored. */
  async comeBack(): Promise<void> {
    await this.#faults.onReady(this.#connection);
    this.#heartbeat();
    await this.#faults.stored();
  }

  stop(): Promise<void> {
    return this.#faults.stop();
  }

  #heartbeat(): void {
    this.#faults.onHeartbeat(this.#connection, {
      type: 'heartbeat',
      routers: this.#routerIds.map((id) => ({ name: `router ${id}`, reachable: true, uptime_seconds: null, reason: null })),
    });
  }
}
