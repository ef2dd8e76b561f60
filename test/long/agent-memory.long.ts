import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { enrol } from '../../agent/link/enrol.ts';
import { buildAgent, BUNDLE } from '../../scripts/bench/bundled-agent.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { World } from '../harness/world.ts';

/**
 * How much memory an agent takes beside twenty routers that send without end: as one file, run from source as `npx
 * signalbox-agent` does, and from source without the flags of V8 (agent/v8-flags.json) that the first two have. Prints all three.
 * Before the flags were the same, the source took 436 MB where the bundle took 163. MEMORY_SECONDS is how long each is watched.
 */
const SECONDS = Number(process.env['MEMORY_SECONDS'] ?? 60);
const HOSTILE = 20;
/** Beyond the bundle: the sources of all modules, and what takes their types away. */
const SOURCE_EXTRA_BYTES = 80e6;
/** As in test/e2e/agent-hostile-routers.test.ts. */
const MOST_BYTES = 220e6;

const root = fileURLToPath(new URL('../..', import.meta.url));
let world: World;
let routers: ChildProcess;
let ports: number[];

beforeAll(async () => {
  await buildAgent();
  world = await World.start({ routers: [] });
  const script = fileURLToPath(new URL('../harness/beside/routers.ts', import.meta.url));
  routers = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', script, String(HOSTILE)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [line] = (await once(createInterface(routers.stdout!), 'line')) as [string];
  ports = JSON.parse(line) as number[];
}, 120_000);

afterAll(async () => {
  const gone = once(routers, 'exit');
  routers.stdin?.end();
  await gone;
  await world.close();
});

interface Memory {
  /** Most that was resident at any time, as the kernel remembers. */
  peakBytes: number;
  residentBytes: number;
}

function memoryOf(pid: number): Memory {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const bytes = (name: string): number => Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)?.[1]) * 1024;
  return { peakBytes: bytes('VmHWM'), residentBytes: bytes('VmRSS') };
}

/** The program that `bin/signalbox-agent.mjs` starts, once it is there. */
function childOf(pid: number): number | undefined {
  const [child] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
  return child === undefined || child === '' ? undefined : Number(child);
}

const PROGRAMS = {
  bundle: BUNDLE,
  source: path.join(root, 'bin/signalbox-agent.mjs'),
  'source without flags': path.join(root, 'agent/main.ts'),
};

async function measure(how: keyof typeof PROGRAMS): Promise<Memory> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'agent-memory-'));
  const { token } = await world.server.services.credentials.createEnrolToken({ teamId: world.caller.teamId, siteId: null });
  await enrol({ server: world.server.url, token, name: how, credentialsFile: path.join(folder, 'credentials.json') });
  const entries = ports.map((port, index) => ({
    name: `hostile-${index}`,
    host: '127.0.0.1',
    api: { port, username: 'admin', password: '' },
  }));
  const config = path.join(folder, 'agent.yaml');
  await writeFile(config, stringify({ server: world.server.url, credentials: 'credentials.json', state: 'state', routers: entries }));
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', PROGRAMS[how], 'run', '--config', config], {
    stdio: 'ignore',
  });
  try {
    const isConnected = async (): Promise<boolean> => {
      const { body } = await world.caller.call<{ data: { name: string; connected: boolean }[] }>('GET', '/api/agents');
      return body.data.some(({ name, connected }) => name === how && connected);
    };
    await waitUntil('the agent is connected', isConnected, 60_000);
    // From source a small program looks for Node 24 and starts the agent with it.
    const pid = childOf(child.pid!) ?? child.pid!;
    await new Promise((resolve) => setTimeout(resolve, SECONDS * 1000));
    return memoryOf(pid);
  } finally {
    const gone = once(child, 'exit');
    child.kill('SIGTERM');
    await gone;
    await rm(folder, { recursive: true, force: true });
  }
}

test(`an agent beside ${HOSTILE} hostile routers for ${SECONDS} s needs little more memory from source than as a bundle`, async () => {
  const bundle = await measure('bundle');
  const source = await measure('source');
  const withoutFlags = await measure('source without flags');
  const megabytes = (bytes: number): string => `${Math.round(bytes / 1e6)} MB`;
  const line = ([how, { peakBytes, residentBytes }]: [string, Memory]): string =>
    `${how}: at most ${megabytes(peakBytes)}, at the end ${megabytes(residentBytes)}\n`;
  process.stdout.write(`\n${Object.entries({ bundle, source, 'source without flags': withoutFlags }).map(line).join('')}`);
  expect(bundle.peakBytes).toBeLessThan(MOST_BYTES);
  expect(source.peakBytes).toBeLessThan(bundle.peakBytes + SOURCE_EXTRA_BYTES);
});
