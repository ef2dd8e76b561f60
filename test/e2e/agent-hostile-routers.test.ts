import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Simulator, startSimulator } from '../simulator/index.ts';

/** One agent, one good router, and nineteen that send without end, each in a process of its own. */

const HOSTILE = 19;
const root = fileURLToPath(new URL('../..', import.meta.url));
const file = (name: string): string => fileURLToPath(new URL(`../harness/beside/${name}`, import.meta.url));

let routers: ChildProcess;
let hostilePorts: number[];
let good: Simulator;

interface Measured {
  p50: number;
  p99: number;
  mostBytes: number;
  reasons: string[];
  lines: number;
}

beforeAll(async () => {
  good = await startSimulator({ sshPort: null });
  routers = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', file('routers.ts'), String(HOSTILE)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [line] = (await once(createInterface(routers.stdout!), 'line')) as [string];
  hostilePorts = JSON.parse(line) as number[];
});

afterAll(async () => {
  const gone = once(routers, 'exit');
  routers.stdin?.end();
  await gone;
  await good.close();
});

/** What commands to the good router take in milliseconds. */
async function measure(seconds: number, ports: readonly number[]): Promise<Measured> {
  const flags = JSON.parse(readFileSync(`${root}/agent/v8-flags.json`, 'utf8')) as string[];
  const words = [
    ...flags,
    '--disable-warning=ExperimentalWarning',
    file('agent.ts'),
    String(seconds),
    String(good.apiPort),
    ...ports.map(String),
  ];
  const { stdout } = await promisify(execFile)(process.execPath, words, { timeout: 60_000 });
  return JSON.parse(stdout) as Measured;
}

test('routers that send endlessly are disconnected with few log lines and hardly slow down other routers', async () => {
  // On a quiet machine the p99 goes from 4 to 20 ms. Half the time of two processors belongs to those who pour here, and to whoever
  // else is busy, so that only what cannot be their doing is asserted: without bounds the median was 100 ms and the p99 400 ms.
  const tries: { quiet: Measured; beside: Measured }[] = [];
  const isGood = ({ quiet, beside }: { quiet: Measured; beside: Measured }): boolean =>
    beside.p50 <= quiet.p50 + 5 && beside.p99 <= quiet.p99 + 100;
  while (tries.length < 3 && !tries.some(isGood)) tries.push({ quiet: await measure(4, []), beside: await measure(12, hostilePorts) });
  expect(tries.filter(isGood), JSON.stringify(tries)).not.toEqual([]);
  for (const { beside } of tries) {
    expect(beside.mostBytes).toBeLessThan(220_000_000);
    expect(beside.reasons).toContain('the router keeps sending unsolicited data');
    expect(beside.reasons).toContain('not the RouterOS API: sentence of more than 4096 words');
    // Why it went, why it cannot be read and why it went again, once each; the rest is for debugging.
    expect(beside.lines).toBeLessThanOrEqual(HOSTILE * 5 + 5);
  }
});
