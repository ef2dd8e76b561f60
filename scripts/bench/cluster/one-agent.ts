import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { caller, waitForRouter } from '../paths.ts';
import { BENCH_LOGIN } from '../parts/simulator.ts';
import type { SimulatorPart } from '../parts/simulator.ts';
import { BenchProcess } from '../processes.ts';
import type { Served } from '../fleet/served.ts';
import type { BenchMembers } from './members.ts';

/** A real agent with a simulated router, connected through the balancer. */
export interface OneAgent {
  routerId: string;
  close: () => Promise<void>;
}

export async function startOneAgent(members: BenchMembers): Promise<OneAgent> {
  const folder = path.join(members.folder, 'agent');
  await mkdir(folder);
  const { data } = await members.call<{ data: { token: string } }>('POST', '/api/enrol-tokens', {});
  const router = await BenchProcess.start<SimulatorPart>('simulator', {});
  const agent = await BenchProcess.start<null>('agent', {
    folder,
    server: members.url,
    enrolToken: data.token,
    router: { apiPort: router.result.apiPort, ...BENCH_LOGIN },
  });
  const routerId = await waitForRouter(caller({ url: members.url, apiKey: members.apiKey, enrolToken: '' }, undefined));
  return {
    routerId,
    close: async () => {
      await agent.process.stop();
      await router.process.stop();
    },
  };
}

/** @returns the node that has the router's agent, and another one */
export async function nodesFor(members: BenchMembers, { routerId }: OneAgent): Promise<[own: Served, other: Served]> {
  const address = await members.query(
    `select nodes.public_url from nodes join agents on agents.node_id = nodes.id
     join routers on routers.agent_id = agents.id where routers.id = '${routerId}'`,
  );
  const own = members.nodes[members.publicUrls.indexOf(address)];
  if (!own) throw new Error(`no node has the agent, at ${address}`);
  return [own, members.nodes.find((node) => node !== own)!];
}
