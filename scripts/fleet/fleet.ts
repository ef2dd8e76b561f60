import { behaviours } from './behaviour.ts';
import type { Shares } from './behaviour.ts';
import type { Credentials } from './enrol.ts';
import { LightAgent } from './light-agent.ts';
import type { AgentCounts } from './light-agent.ts';
import { LightRouter } from './light-router.ts';
import type { PlannedAgent } from './plan.ts';
import { seeded } from './random.ts';

export interface FleetOptions {
  server: string;
  plan: readonly PlannedAgent[];
  credentials: readonly Credentials[];
  shares: Shares;
  seed: number;
  now: () => number;
}

/** Many light agents in this process. */
export class Fleet {
  readonly agents: readonly LightAgent[];
  readonly counts: AgentCounts = { ready: 0, dials: 0, refused: 0, requests: 0 };

  constructor({ server, plan, credentials, shares, seed, now }: FleetOptions) {
    const random = seeded(seed);
    const behaviour = behaviours(plan.length, shares);
    const isLoopback = new URL(server).hostname === '127.0.0.1';
    this.agents = plan.map(({ routers }, index) => {
      const light = routers.map((router) => new LightRouter(router, now));
      const localAddress = isLoopback ? loopbackOf(index) : undefined;
      const options = { server, credentials: credentials[index]!, routers: light, behaviour: behaviour[index]!, random, localAddress };
      return new LightAgent(options, this.counts);
    });
  }

  get routers(): LightRouter[] {
    return this.agents.flatMap(({ routers }) => routers);
  }

  /** All dial within `spreadMs`; with 0, at once. */
  start(spreadMs: number): void {
    for (const agent of this.agents) agent.start(spreadMs);
  }

  /** Cuts every tunnel at the same moment. */
  storm(): void {
    for (const agent of this.agents) agent.cut();
  }

  stop(): void {
    for (const agent of this.agents) agent.stop();
  }
}

/** On this machine, each agent comes from an address of its own, as agents do: Linux has all of 127.0.0.0/8. */
function loopbackOf(index: number): string {
  return `127.${20 + Math.floor(index / 62_500)}.${Math.floor(index / 250) % 250}.${(index % 250) + 1}`;
}
