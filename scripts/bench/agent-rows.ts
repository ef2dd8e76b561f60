import { execFile, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { stringify } from 'yaml';
import { enrol } from '../../agent/link/enrol.ts';
import type { ServerPart } from './parts/server.ts';
import { BENCH_LOGIN } from './parts/simulator.ts';
import { BenchProcess } from './processes.ts';
import type { Row } from './report.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const bundle = path.join(root, 'dist', 'signalbox-agent.cjs');

/** DESIGN.md section 11. */
const BUNDLE_BYTES = 1.5e6;
const RESIDENT_BYTES = 80e6;
const ROUTERS = 10;
/** After the sessions are up and the first readings done. */
const SETTLE_MS = 15_000;

/** Size of the bundled agent, and its resident memory with ten routers after a while. */
export async function agentRows(): Promise<Row[]> {
  await promisify(execFile)(process.execPath, [path.join(root, 'scripts/build-agent.ts')]);
  const { size } = await stat(bundle);
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
    Array.from({ length: ROUTERS }, (_, i) => BenchProcess.start<number>('simulator', { serialNumber: `BENCH${i}` })),
  );
  const config = path.join(folder, 'agent.yaml');
  await enrol({ server: server.result.url, token: server.result.enrolToken, name: 'bench', credentialsFile: path.join(folder, 'credentials.json') });
  await writeFile(config, stringify({
    server: server.result.url,
    credentials: 'credentials.json',
    state: 'state',
    routers: routers.map(({ result }, i) => ({ name: `router-${i}`, host: '127.0.0.1', api: { port: result, ...BENCH_LOGIN } })),
  }));
  // Without node_modules and flags, as it runs beside a router.
  const agent = spawn(process.execPath, [bundle, 'run', '--config', config], { stdio: 'ignore' });
  try {
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
    const status = await readFile(`/proc/${agent.pid}/status`, 'utf8');
    return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
  } finally {
    agent.kill('SIGTERM');
    await Promise.all([server, ...routers].map((part) => part.process.stop()));
    await rm(folder, { recursive: true, force: true });
  }
}
