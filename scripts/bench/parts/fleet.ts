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

/** `counts` only; `rest`: all hang up and dial no more; `dial`: all dial at once. */
export type FleetQuestion = 'counts' | 'rest' | 'dial';

/** `npm run fleet` in a process that answers how many of its agents are ready. All dial at once. */
export function startFleetPart({
  server,
  credentials,
  routersPerAgent,
}: FleetPartOptions): Promise<AnsweringPart<FleetQuestion, AgentCounts, null>> {
  const plan = planFleet({ agents: credentials.length, routers: credentials.length * routersPerAgent });
  const fleet = new Fleet({ server, plan, credentials, shares: { flapping: 0, silent: 0, slow: 0 }, seed: 1, now: Date.now });
  fleet.start(0);
  const ask = (question: FleetQuestion): AgentCounts => {
    if (question === 'rest') fleet.stop();
    if (question === 'dial') fleet.start(0);
    return fleet.counts;
  };
  return Promise.resolve({ result: null, ask });
}
