import { z } from 'zod';
import type { Cluster } from '../../feature.ts';
import type { AgentHolders } from '../agents/service.ts';
import type { SessionRow } from './types.ts';

/** What is measured of lines is not worth a longer wait: without an answer, it is left out. Milliseconds. */
const LONGEST_WAIT_MS = 1000;
/** Agents of one question: a page of them. */
const AGENTS_AT_ONCE = 200;

const linesOf = (nodeId: string): string => `signalbox.node.${nodeId}.lines`;

const question = z.object({ agent_ids: z.array(z.string()).max(AGENTS_AT_ONCE) });
const measured = z.object({
  id: z.string(),
  round_trip_min_us: z.number().nullable(),
  round_trip_p50_us: z.number().nullable(),
  round_trip_p95_us: z.number().nullable(),
  pings_answered: z.number(),
  pings_lost: z.number(),
  bytes_in: z.number().nullable(),
  bytes_out: z.number().nullable(),
});
const answer = z.object({
  lines: z.array(z.object({ agent_id: z.string(), round_trip_ms: z.number().nullable(), sessions: z.array(measured) })),
});

/** What is measured of an open session, and so not stored yet. */
export type MeasuredSession = Pick<SessionRow, keyof z.infer<typeof measured>>;

/** What the control plane that has an agent's tunnel measures of it now. */
export interface MeasuredLine {
  /** The last one of its newest tunnel. */
  roundTripMs: number | null;
  sessions: readonly MeasuredSession[];
}

interface Deps {
  cluster: Pick<Cluster, 'nodeId' | 'bus'>;
  holders: Pick<AgentHolders, 'holderOf' | 'isElsewhere'>;
  /** Of agents of this control plane. */
  measure: (agentId: string) => MeasuredLine;
}

/** Asks other control planes what they measure of the tunnels that they have. */
export class LinesElsewhere {
  readonly #deps: Deps;

  constructor(deps: Deps) {
    this.#deps = deps;
    deps.cluster.bus.answer(linesOf(deps.cluster.nodeId), async (value) => {
      const { agent_ids: agentIds } = question.parse(value);
      const lines = agentIds.map((id) => ({ id, ...deps.measure(id) }));
      return {
        lines: lines.map(({ id, roundTripMs, sessions }) => ({ agent_id: id, round_trip_ms: roundTripMs, sessions: [...sessions] })),
      } satisfies z.infer<typeof answer>;
    });
  }

  /** Those of these agents that have their tunnels with other control planes. */
  among(agentIds: readonly string[]): string[] {
    return agentIds.filter((id) => this.#deps.holders.isElsewhere(id));
  }

  /** Agents of whose lines nobody says anything in time are missing. Never rejects. */
  async measuredOf(agentIds: readonly string[]): Promise<Map<string, MeasuredLine>> {
    const { holders } = this.#deps;
    const byNode = Map.groupBy(this.among(agentIds), (id) => holders.holderOf(id)!);
    const asked = [...byNode].flatMap(([nodeId, ids]) => inPieces(ids).map((some) => this.#ask(nodeId, some)));
    const lines = (await Promise.all(asked)).flat();
    return new Map(lines.map(({ agent_id: id, round_trip_ms: roundTripMs, sessions }) => [id, { roundTripMs, sessions }]));
  }

  async #ask(nodeId: string, agentIds: readonly string[]): Promise<z.infer<typeof answer>['lines']> {
    const { bus } = this.#deps.cluster;
    try {
      return answer.parse(await bus.ask(linesOf(nodeId), { agent_ids: agentIds }, { timeoutMs: LONGEST_WAIT_MS })).lines;
    } catch {
      // It has just ended, or the bus is away: measurements are null then, as before the first ping.
      return [];
    }
  }
}

function inPieces(ids: readonly string[]): string[][] {
  return Array.from({ length: Math.ceil(ids.length / AGENTS_AT_ONCE) }, (_, index) =>
    ids.slice(index * AGENTS_AT_ONCE, (index + 1) * AGENTS_AT_ONCE),
  );
}
