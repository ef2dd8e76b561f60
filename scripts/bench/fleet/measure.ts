import { setTimeout as pause } from 'node:timers/promises';
import type { AgentCounts } from '../../fleet/light-agent.ts';
import type { Credentials } from '../../fleet/enrol.ts';
import type { FleetPartOptions, FleetQuestion } from '../parts/fleet.ts';
import { BenchProcess } from '../processes.ts';
import type { Served } from './served.ts';
import { visitWhile } from './visitor.ts';
import type { Visit } from './visitor.ts';

/** How often the agents are asked whether they are ready. The control plane is asked only then: its answer costs it some milliseconds. */
const LOOK_MS = 200;
const GIVE_UP_MS = 240_000;

export interface Api {
  url: string;
  apiKey: string;
}

/** All agents connect: what it takes until each of their routers answers. */
export interface Connected {
  seconds: number;
  /** Of the control plane for one agent, milliseconds. */
  cpuMs: number;
  visit: Visit;
}

/** The agents of one measurement, in a process of their own. */
export class FleetProcess {
  readonly #process: BenchProcess;

  private constructor(process: BenchProcess) {
    this.#process = process;
  }

  static async start(server: string, credentials: Credentials[], routersPerAgent: number): Promise<FleetProcess> {
    const options: FleetPartOptions = { server, credentials, routersPerAgent };
    return new FleetProcess((await BenchProcess.start<null>('fleet', options)).process);
  }

  ask(question: FleetQuestion): Promise<AgentCounts> {
    return this.#process.ask<AgentCounts>(question);
  }

  stop(): Promise<void> {
    return this.#process.stop();
  }
}

/** @param start lets all agents dial, and gives them @throws Error when they are not all ready within minutes */
export async function measureConnecting(
  served: Served,
  api: Api,
  { agents, routers, start }: { agents: number; routers: number; start: () => Promise<FleetProcess> },
): Promise<Connected> {
  const before = await served.usage();
  const begun = performance.now();
  const visit = await visitWhile(api, async () => {
    const fleet = await start();
    while ((await fleet.ask('counts')).ready < agents || (await answering(api)) < routers) {
      if (performance.now() - begun > GIVE_UP_MS) throw new Error(`only ${await answering(api)} of ${routers} routers answer`);
      await pause(LOOK_MS);
    }
  });
  const seconds = (performance.now() - begun) / 1000;
  const { cpuSeconds } = await served.usage();
  return { seconds, cpuMs: ((cpuSeconds - before.cpuSeconds) * 1000) / agents, visit };
}

async function answering({ url, apiKey }: Api): Promise<number> {
  const answer = await fetch(`${url}/api/overview`, { headers: { authorization: `Bearer ${apiKey}` } });
  if (!answer.ok) {
    await answer.body?.cancel();
    return 0;
  }
  const { data } = (await answer.json()) as { data: { routers: { answering: number } } };
  return data.routers.answering;
}

/** CPU of one agent's bare WebSocket connection, milliseconds. */
export async function measureBare(credentials: Credentials[]): Promise<number> {
  const { process, result: port } = await BenchProcess.start<number>('bare-server', {});
  const before = await process.usage();
  const fleet = await FleetProcess.start(`http://127.0.0.1:${port}`, credentials, 1);
  try {
    const begun = performance.now();
    while ((await process.ask<number>('connections')) < credentials.length) {
      if (performance.now() - begun > GIVE_UP_MS) throw new Error('the bare server did not get all connections');
      await pause(LOOK_MS);
    }
    const { cpuSeconds } = await process.usage();
    return ((cpuSeconds - before.cpuSeconds) * 1000) / credentials.length;
  } finally {
    await fleet.stop();
    await process.stop();
  }
}

/** CPU as a share of one core, and resident bytes at the end. */
export async function measureSteady(served: Served, ms: number): Promise<{ share: number; residentBytes: number }> {
  const before = await served.usage();
  const begun = performance.now();
  await pause(ms);
  const after = await served.usage();
  const seconds = (performance.now() - begun) / 1000;
  return { share: (after.cpuSeconds - before.cpuSeconds) / seconds, residentBytes: after.residentBytes };
}
