import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CredentialsService } from '../../server/access/credentials/service.ts';
import { systemClock } from '../../server/platform/core/clock.ts';
import { openStorage } from '../../server/platform/storage/open.ts';
import type { Answer } from '../harness/http-burst.ts';
import { createTeam, freePort } from '../harness/installation.ts';
import { Program } from '../harness/program.ts';
import { seedRouter } from '../harness/seed.ts';
import { silentLog } from '../harness/silent-log.ts';
import { waitUntil } from '../harness/wait-until.ts';

const CALLERS = 3000;
/**
 * Beside twice what the caller itself needs on this machine only to connect so often. With 16 programs waiting for two processors the
 * slowest needed once the time of the caller; when callers waited in the kernel to be accepted, five times.
 */
const ADMITTED_WITHIN_MS = 5000;
/**
 * The same for a refusal. It needs 1 s when two programs share each processor; when refusals waited for each other in the application it
 * was 5 s. admission-gate.test.ts shows without a clock that they do not.
 */
const REFUSED_WITHIN_MS = 4000;

/** Three bursts of so many connections, on a machine whose processors are shared by many. */
const BUSY_MACHINE_MS = 240_000;

const job = { description: 'd', script: ':put 1', make_backup: false, express_execute: false, needs_acknowledgement: true };

let folder: string;
let server: Program;
let port: number;
let keys: string[];
let jobsPath: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-overload-'));
  port = await freePort();
  const databaseUrl = `sqlite:${path.join(folder, 'signalbox.db')}`;
  server = new Program('server/main.ts', ['serve'], {
    SIGNALBOX_LISTEN: `127.0.0.1:${port}`,
    SIGNALBOX_SANDBOX_LISTEN: '',
    SIGNALBOX_DATABASE_URL: databaseUrl,
    SIGNALBOX_SECRET_KEY_FILE: path.join(folder, 'secret.key'),
    SIGNALBOX_RATE_LIMIT_PER_MINUTE: '1000000',
  });
  server.start();
  await waitUntil('ready', async () => (await ask('/readyz').catch(() => undefined))?.status === 200);
  keys = [(await createTeam(databaseUrl)).apiKey, await anotherKey(databaseUrl)];
});
afterAll(async () => {
  await (server as Program | undefined)?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** With a router for jobs. */
async function anotherKey(databaseUrl: string): Promise<string> {
  const storage = await openStorage(databaseUrl, { log: silentLog });
  const auth = new CredentialsService({ storage, clock: systemClock, log: silentLog });
  try {
    const { id: teamId } = await storage.db.selectFrom('teams').select('id').executeTakeFirstOrThrow();
    jobsPath = `/api/asynchronous/${(await seedRouter(storage, { teamId, now: Date.now() })).routerId}`;
    return (await auth.createApiKey({ teamId, name: 'another', createdBy: null })).apiKey;
  } finally {
    await auth.stop();
    await storage.close();
  }
}

/** As many at once, each on a connection of its own. In a thread of its own, so that it does not hold up who else asks here. */
async function burst(route: string): Promise<Answer[]> {
  const data = { port, count: CALLERS, path: route, key: keys[0], body: JSON.stringify(job) };
  const worker = new Worker(new URL('../harness/http-burst.ts', import.meta.url), { workerData: data });
  const [answers] = (await once(worker, 'message')) as [Answer[]];
  await worker.terminate();
  return answers;
}

async function ask(route: string, key?: string): Promise<Answer> {
  const started = performance.now();
  const answer = await fetch(`http://127.0.0.1:${port}${route}`, { headers: key === undefined ? {} : { authorization: `Bearer ${key}` } });
  await answer.arrayBuffer();
  return { status: answer.status, retryAfter: answer.headers.get('retry-after') ?? undefined, ms: performance.now() - started };
}

/** p50, p99 and the slowest, milliseconds. */
function times(list: Answer[]): string {
  const sorted = list.map(({ ms }) => Math.round(ms)).toSorted((a, b) => a - b);
  return [0.5, 0.99, 1].map((share) => sorted[Math.ceil(share * sorted.length) - 1]).join('/');
}

const slowest = (list: Answer[]): number => Math.round(Math.max(...list.map(({ ms }) => ms)));

test(
  '3,000 concurrent requests are answered soon or refused at once, and delay no other client',
  async ({ annotate }) => {
    const over = new AbortController();
    // What this machine needs only to connect so often and be turned away: it may be busy with other tests, before or afterwards.
    const before = slowest(await burst('/healthz'));
    const bursting = burst(jobsPath).finally(() => over.abort());
    const others: Answer[] = [];
    const health: Answer[] = [];
    while (!over.signal.aborted) {
      others.push(await ask('/api/routers', keys[1]));
      health.push(await ask('/readyz'));
    }
    const answers = await bursting;
    const yardstick = Math.max(before, slowest(await burst('/healthz')));
    const served = answers.filter(({ status }) => status === 200);
    const refused = answers.filter(({ status }) => status === 503);
    expect(served.length + refused.length).toBe(CALLERS);
    expect(served.length).toBeGreaterThan(64);
    expect(refused.length).toBeGreaterThan(0);
    expect(refused.every(({ retryAfter }) => Number(retryAfter) > 0)).toBe(true);
    expect(slowest(served)).toBeLessThan(ADMITTED_WITHIN_MS + 2 * yardstick);
    expect(slowest(refused)).toBeLessThan(REFUSED_WITHIN_MS + 2 * yardstick);
    // Whatever else the machine does: most of the refused do not wait for those that are served.
    expect(refused.filter(({ ms }) => ms < slowest(served)).length).toBeGreaterThan(refused.length / 2);
    expect(others.map(({ status }) => status)).toEqual(others.map(() => 200));
    expect(health.map(({ status }) => status)).toEqual(health.map(() => 200));
    await annotate(
      `p50/p99/slowest in ms: ${served.length} served ${times(served)}, ${refused.length} refused ${times(refused)}, ${others.length} of another key ${times(others)}; only to connect ${yardstick}`,
    );
  },
  BUSY_MACHINE_MS,
);
