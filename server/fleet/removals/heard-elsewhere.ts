import { z } from 'zod';
import type { Cluster } from '../../feature.ts';
import { AppError } from '../../platform/core/errors.ts';
import type { Storage } from '../../platform/storage/db.ts';
import type { AgentHolders } from '../agents/service.ts';
import type { RoutersService } from '../routers/service.ts';
import { selectReporters } from './store.ts';
import type { Reporter } from './store.ts';

/** For a read from memory. */
const LONGEST_WAIT_MS = 5000;
/** A router has one agent, and few others claim it. */
const MOST_ASKED = 1000;

const hearingOf = (nodeId: string): string => `signalbox.node.${nodeId}.heard`;

const reporter = z.object({ routerId: z.string(), agentId: z.string(), name: z.string() }) satisfies z.ZodType<Reporter>;
const question = z.object({ reporters: z.array(reporter).max(MOST_ASKED) });
const heard = z.object({ isAnswering: z.boolean(), whyHeld: z.string().nullable() });
/** In the order of the question; null for an agent whose tunnel is not there any more. */
const answer = z.object({ heard: z.array(heard.nullable()) });

/** What the control plane with the tunnel of its agent hears of a router at this moment. */
export type Heard = z.infer<typeof heard>;

interface Deps {
  storage: Storage;
  cluster: Pick<Cluster, 'nodeId' | 'bus'>;
  holders: Pick<AgentHolders, 'readHolders'>;
  routers: Pick<RoutersService, 'connectionOf' | 'presence' | 'reasonStillHeld'>;
}

/**
 * Asks the control planes that have the tunnels of a router's agents what they hear of it. What they store of it is read seconds later, which
 * is good enough to show, and not to decide whether a router may be removed or replaced.
 */
export class HeardElsewhere {
  readonly #deps: Deps;

  constructor(deps: Deps) {
    this.#deps = deps;
    deps.cluster.bus.answer(hearingOf(deps.cluster.nodeId), async (value) => {
      const { reporters } = question.parse(value);
      return { heard: reporters.map((one) => this.#hear(one)) } satisfies z.infer<typeof answer>;
    });
  }

  /**
   * @returns by {@link reporterKey}, for those agents of these routers that have their tunnels with other control planes and are not revoked
   * @throws AppError `unavailable` when one of those does not answer, or the agent has left it at this moment
   */
  async of(teamId: string, routerIds: readonly string[]): Promise<Map<string, Heard>> {
    const { storage, holders, cluster } = this.#deps;
    const reporters = await selectReporters(storage.db, teamId, routerIds);
    const holderOf = await holders.readHolders(reporters.map(({ agentId }) => agentId));
    const elsewhere = Map.groupBy(reporters, ({ agentId }) => holderOf.get(agentId) ?? cluster.nodeId);
    elsewhere.delete(cluster.nodeId);
    const said = await Promise.all([...elsewhere].map(([nodeId, of]) => this.#ask(nodeId, of.slice(0, MOST_ASKED))));
    return new Map(said.flat());
  }

  async #ask(nodeId: string, reporters: Reporter[]): Promise<[string, Heard][]> {
    const said = await this.#deps.cluster.bus
      .ask(hearingOf(nodeId), { reporters }, { timeoutMs: LONGEST_WAIT_MS })
      .then((value) => answer.parse(value).heard)
      .catch((error: unknown) => {
        throw new AppError('unavailable', 'the control plane that has the agent of this router does not answer', {
          cause: error,
          retryAfterMs: 2000,
        });
      });
    return reporters.map((one, index) => {
      const of = said[index];
      if (!of) throw new AppError('unavailable', 'the agent of this router connects anew at this moment', { retryAfterMs: 2000 });
      return [reporterKey(one.agentId, one.name), of];
    });
  }

  #hear({ routerId, agentId, name }: Reporter): Heard | null {
    const { routers } = this.#deps;
    if (!routers.connectionOf(agentId)) return null;
    return { isAnswering: routers.presence.isAnswering(routerId), whyHeld: routers.reasonStillHeld(agentId, name) ?? null };
  }
}

/** An agent's name for a router. */
export function reporterKey(agentId: string, name: string): string {
  return `${agentId} ${name}`;
}
