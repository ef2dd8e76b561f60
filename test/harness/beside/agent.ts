/**
 * A process that is an agent as far as its routers are concerned: the first port is a good one, the others are what is beside
 * it. Asks the good one again and again for some seconds and prints as JSON how long it took, and what became of the others.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import type { RouterAdapter } from '../../../agent/routers/adapter.ts';
import { createRouterAdapter } from '../../../agent/routers/router.ts';
import { RecordedLog } from '../recorded-log.ts';

const [seconds = 1, ...ports] = process.argv.slice(2).map(Number);
const stateFolder = await mkdtemp(path.join(os.tmpdir(), 'beside-'));
const log = new RecordedLog();
const reasons = new Set<string>();
const routers = ports.map((port, index): RouterAdapter => {
  const api = { port, tls: false, anonymous_tls: false, username: 'admin', password: '' };
  const router = createRouterAdapter({ name: `router-${index}`, host: '127.0.0.1', api, forward_way: 'auto' }, { stateFolder, log });
  if (index > 0) router.onState(({ reason }) => reason !== null && reasons.add(reason));
  return router;
});
const [good] = routers;
const patience = { timeoutMs: 30_000 };
await good!.refresh(patience);
const took: number[] = [];
const cpuBefore = process.cpuUsage();
let mostBytes = 0;
for (const startedAt = performance.now(); performance.now() - startedAt < seconds * 1000;) {
  const askedAt = performance.now();
  await good!.command({ path: '/system/identity/print', words: [] }, patience);
  took.push(performance.now() - askedAt);
  mostBytes = Math.max(mostBytes, Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) * 1024);
  await new Promise((resolve) => setTimeout(resolve, 10));
}
const { user, system } = process.cpuUsage(cpuBefore);
took.sort((a, b) => a - b);
const at = (share: number): number => took[Math.min(took.length - 1, Math.floor(took.length * share))]!;
const result = {
  p50: at(0.5),
  p99: at(0.99),
  worst: at(1),
  cpu: (user + system) / 1e6 / seconds,
  mostBytes,
  reasons: [...reasons],
  lines: log.shown.length,
};
process.stdout.write(`${JSON.stringify(result)}\n`);
await Promise.all(routers.map((router) => router.close()));
await rm(stateFolder, { recursive: true });
process.exit(0);
