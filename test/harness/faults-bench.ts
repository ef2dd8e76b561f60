import type { Heartbeat } from '../../protocol/index.ts';
import { FaultsService } from '../../server/fleet/faults/service.ts';
import type { FaultsDeps } from '../../server/fleet/faults/service.ts';
import type { RoutersService } from '../../server/fleet/routers/service.ts';
import type { RouterRecord } from '../../server/fleet/routers/types.ts';
import { StatesService } from '../../server/fleet/states/service.ts';
import type { AgentConnection } from '../../server/platform/core/agent-gateway.ts';
import { Listeners } from '../../server/platform/core/listeners.ts';

/** For faults that have nothing to do with the state of a router. */
export const NO_STATES: FaultsDeps['states'] = { verdictOf: () => undefined, changes: new Listeners(), told: new Listeners() };

/** Faults over real states, which get the same events of agents in the same order as in the product. */
export class FaultsBench extends FaultsService {
  readonly states: StatesService;
  /** Routers of inventories, by agent and name. */
  readonly #names: Map<string, string>;
  readonly #routers: RoutersService;
  readonly #now: () => number;

  constructor(deps: Omit<FaultsDeps, 'states' | 'routers'> & { routers: RoutersService }) {
    const runs = { former: undefined, currentId: undefined };
    const { routers } = deps;
    const names = new Map<string, string>();
    const known = {
      routerIdOf: (agentId: string, name: string) => names.get(`${agentId} ${name}`) ?? routers.routerIdOf(agentId, name),
      lastHeartbeatOf: (agentId: string, name: string) => routers.lastHeartbeatOf(agentId, name),
    };
    const states = new StatesService({
      ...deps,
      routers: known,
      runs,
      offlineAfterMs: deps.rules.offlineAfterMs,
      keepMs: 400 * 24 * 3_600_000,
    });
    super({ ...deps, states });
    this.states = states;
    this.#names = names;
    this.#routers = routers;
    this.#now = () => deps.clock.now();
  }

  override async start(): Promise<void> {
    await this.states.start();
    await super.start();
  }

  override async stop(): Promise<void> {
    await super.stop();
    await this.states.stop();
  }

  override async onReady(connection: AgentConnection): Promise<void> {
    await this.#routers.onReady(connection);
    this.states.onReady(connection);
  }

  override onGone(connection: AgentConnection): void {
    const now = this.#now();
    this.states.onGone(connection, { endedBy: 'network', at: now, lastHeardAt: now });
  }

  override onHeartbeat(connection: AgentConnection, heartbeat: Heartbeat): void {
    this.#routers.onHeartbeat(connection, heartbeat);
    this.states.onHeartbeat(connection, heartbeat);
    super.onHeartbeat(connection, heartbeat);
  }

  override onInventory(connection: AgentConnection, router: RouterRecord): void {
    this.#names.set(`${connection.agentId} ${router.agent_router}`, router.id);
    super.onInventory(connection, router);
    this.states.onInventory(router);
  }
}
