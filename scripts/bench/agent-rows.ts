import { mkdtemp, rm, stat } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { buildAgent, BUNDLE, BundledAgent } from './bundled-agent.ts';
import type { ServerPart } from './parts/server.ts';
import type { SimulatorPart } from './parts/simulator.ts';
import { BenchProcess } from './processes.ts';
import type { Row } from './report.ts';

/** The targets of docs/benchmarks.md. */
const BUNDLE_BYTES = 1.5e6;
const RESIDENT_BYTES = 80e6;
const ROUTERS = 10;
/** Delay until the sessions are up and the first reads are done. */
const SETTLE_MS = 15_000;

/** Size of the bundled agent, and its resident memory with ten routers after a while. */
export async function agentRows(): Promise<Row[]> {
  await buildAgent();
  const { size } = await stat(BUNDLE);
  const resident = await residentBytes();
  const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(2)} MB`;
  return [
    { name: 'agent bundle, to 1.5 MB', ratio: size / BUNDLE_BYTES, bar: { at: 'most', value: 1 }, detail: megabytes(size) },
    {
      name: `agent with ${ROUTERS} routers, resident, to 80 MB`,
      ratio: resident / RESIDENT_BYTES,
      bar: { at: 'most', value: 1 },
      detail: megabytes(resident),
    },
  ];
}

async function residentBytes(): Promise<number> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-bench-agent-'));
  const server = await BenchProcess.start<ServerPart>('server', { folder });
  const routers = await Promise.all(
    Array.from({ length: ROUTERS }, (_, i) => BenchProcess.start<SimulatorPart>('simulator', { serialNumber: `BENCH${i}` })),
  );
  const apiPorts = routers.map(({ result }) => result.apiPort);
  const agent = await BundledAgent.start({ folder, server: server.result.url, enrolToken: server.result.enrolToken, apiPorts });
  try {
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
    return (await agent.usage()).residentBytes;
  } finally {
    agent.stop();
    await Promise.all([server, ...routers].map((part) => part.process.stop()));
    await rm(folder, { recursive: true, force: true });
  }
}
