import { askedCommands } from '../command-rows.ts';
import { HttpLoad } from '../http-load.ts';
import { milliseconds } from '../report.ts';
import type { Row } from '../report.ts';
import { interleave, median, quantile } from '../statistics.ts';
import { bareQuestions } from './bare-bus.ts';
import type { BenchMembers } from './members.ts';
import { nodesFor } from './one-agent.ts';
import type { OneAgent } from './one-agent.ts';

const ADDED_MS = { p50: 0.6, p99: 2 } as const;
const SAMPLE_MS = 1000;
const ROUNDS = 5;
const WARM_UP_ROUNDS = 4;

/** A command through the node that does not have the agent, minus the same through the one that has it. */
export async function remoteCommandRows(members: BenchMembers, agent: OneAgent): Promise<Row[]> {
  const { routerId } = agent;
  const [local, remote] = (await nodesFor(members, agent)).map(({ url }) => new HttpLoad({ url, apiKey: members.apiKey }, 1)) as [
    HttpLoad,
    HttpLoad,
  ];
  const measure = (http: HttpLoad) => (): Promise<number[]> => askedCommands(http, routerId, SAMPLE_MS);
  try {
    await interleave(WARM_UP_ROUNDS, [measure(local), measure(remote)]);
    const bare = await bareQuestions(members.busUrl, SAMPLE_MS);
    const [near, far] = (await interleave(ROUNDS, [measure(local), measure(remote)])) as [number[][], number[][]];
    return (['p50', 'p99'] as const).map((name): Row => {
      const at = name === 'p50' ? 0.5 : 0.99;
      const [own, other] = [near, far].map((samples) => median(samples.map((times) => quantile(times, at)))) as [number, number];
      return {
        name: `${name} added to a command to an agent on another node, in milliseconds`,
        ratio: other - own,
        bar: { at: 'most', value: ADDED_MS[name] },
        detail:
          `own agent ${milliseconds(own)}, agent of another node ${milliseconds(other)}; ` +
          `a bare question and answer over the bus ${milliseconds(quantile(bare, at))}`,
      };
    });
  } finally {
    local.close();
    remote.close();
  }
}
