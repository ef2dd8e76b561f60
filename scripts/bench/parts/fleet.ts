import { Fleet } from '../../fleet/fleet.ts';
import type { AgentCounts } from '../../fleet/light-agent.ts';
import type { Credentials } from '../../fleet/enrol.ts';
import { planFleet } from '../../fleet/plan.ts';
import type { AnsweringPart } from '../answering-part.ts';

export interface FleetPartOptions {
  server: string;
  credentials: Credentials[];
  routersPerAgent: number;
}

/** `npm run fleet` in a process that answers how many of its agents are ready. All dial at once, as after a restart of the control plane. */
export function startFleetPart({
  server,
  credentials,
  routersPerAgent,
}: FleetPartOptions): Promise<AnsweringPart<'counts', AgentCounts, null>> {
  const plan = planFleet({ agents: credentials.length, routers: credentials.length * routersPerAgent });
  const fleet = new Fleet({ server, plan, credentials, shares: { flapping: 0, silent: 0, slow: 0 }, seed: 1, now: Date.now });
  fleet.start(0);
  return Promise.resolve({ result: null, ask: () => fleet.counts });
}
