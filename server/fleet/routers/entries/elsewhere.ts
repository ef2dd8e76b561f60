import { z } from 'zod';
import type { Cluster } from '../../../feature.ts';
import { AppError } from '../../../platform/core/errors.ts';
import type { AgentHolders } from '../../agents/service.ts';
import type { AgentEntry } from '../types.ts';

/** For a read from memory. */
const LONGEST_WAIT_MS = 5000;

const entriesOf = (nodeId: string): string => `signalbox.node.${nodeId}.entries`;

const question = z.object({ team_id: z.string(), agent_id: z.string() });
const entry = z.object({
  name: z.string(),
  host: z.string().nullable(),
  routerId: z.string().nullable(),
  reachable: z.boolean(),
  reason: z.string().nullable(),
  duplicateOf: z.object({ name: z.string(), host: z.string().nullable(), routerId: z.string() }).nullable(),
}) satisfies z.ZodType<AgentEntry>;
/** Without entries: the agent's tunnel is not there any more. */
const answer = z.object({ entries: z.array(entry).nullable() });

interface Deps {
  cluster: Pick<Cluster, 'nodeId' | 'bus'>;
  holders: Pick<AgentHolders, 'holderOf' | 'isElsewhere'>;
  /** Of an agent of this control plane; undefined for any other. */
  describe: (teamId: string, agentId: string) => AgentEntry[] | undefined;
}

/** Asks the control plane that has an agent's tunnel for the entries of the agent's configuration: only it knows them. */
export class EntriesElsewhere {
  readonly #deps: Deps;

  constructor(deps: Deps) {
    this.#deps = deps;
    deps.cluster.bus.answer(entriesOf(deps.cluster.nodeId), async (value) => {
      const { team_id: teamId, agent_id: agentId } = question.parse(value);
      return { entries: deps.describe(teamId, agentId) ?? null } satisfies z.infer<typeof answer>;
    });
  }

  /** @returns undefined when no other control plane has the agent's tunnel @throws AppError `unavailable` when that one does not answer */
  async of(teamId: string, agentId: string): Promise<AgentEntry[] | undefined> {
    const { holders, cluster } = this.#deps;
    const holder = holders.isElsewhere(agentId) ? holders.holderOf(agentId) : undefined;
    if (holder === undefined) return undefined;
    try {
      const said = await cluster.bus.ask(entriesOf(holder), { team_id: teamId, agent_id: agentId }, { timeoutMs: LONGEST_WAIT_MS });
      return answer.parse(said).entries ?? undefined;
    } catch (error) {
      throw new AppError('unavailable', 'the control plane that has the agent does not answer', { cause: error, retryAfterMs: 2000 });
    }
  }
}
