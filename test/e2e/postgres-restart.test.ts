import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { migrate } from '../../server/platform/storage/migrate.ts';
import { openStorage } from '../../server/platform/storage/open.ts';
import { createTeam, freePort } from '../harness/installation.ts';
import { findPostgres, postgresUrl, startPostgres } from '../harness/postgres-server.ts';
import type { HaltMode, PostgresServer } from '../harness/postgres-server.ts';
import { Program } from '../harness/program.ts';
import { seedRouter } from '../harness/seed.ts';
import { silentLog } from '../harness/silent-log.ts';
import { waitUntil } from '../harness/wait-until.ts';

/**
 * A real PostgreSQL server restarts under a control plane that is a process of its own and under load. Without Debian's
 * PostgreSQL there is nothing to restart.
 */
const bin = findPostgres();

const CALLERS = 12;
/** From the moment the database answers again. */
const RECOVERY_MS = 10_000;

describe.skipIf(bin === undefined)('PostgreSQL', () => {
  let folder: string;
  let postgres: PostgresServer;
  let server: Program;
  let url: string;
  let headers: Record<string, string>;
  let jobsUrl: string;
  let databaseUrl: string;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-restart-'));
    postgres = await startPostgres(bin!);
    databaseUrl = postgresUrl(postgres.socketFolder, 'postgres');
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    server = new Program('server/main.ts', ['serve'], {
      SIGNALBOX_LISTEN: `127.0.0.1:${port}`,
      SIGNALBOX_SANDBOX_LISTEN: '',
      SIGNALBOX_DATABASE_URL: databaseUrl,
      SIGNALBOX_SECRET_KEY_FILE: path.join(folder, 'secret.key'),
      SIGNALBOX_RATE_LIMIT_PER_MINUTE: '10000000',
    });
    const storage = await openStorage(databaseUrl, { log: silentLog });
    await migrate(storage);
    const { apiKey } = await createTeam(databaseUrl);
    const { id: teamId } = await storage.db.selectFrom('teams').select('id').executeTakeFirstOrThrow();
    const { routerId } = await seedRouter(storage, { teamId, now: Date.now() });
    await storage.close();
    headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
    jobsUrl = `${url}/api/asynchronous/${routerId}`;
    server.start();
    await isReady();
  });

  afterAll(async () => {
    await (server as Program | undefined)?.stop();
    await (postgres as PostgresServer | undefined)?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const isReady = () => waitUntil('ready', async () => (await fetch(`${url}/readyz`).catch(() => undefined))?.status === 200);

  const job = { description: 'd', script: ':put 1', make_backup: false, express_execute: false, needs_acknowledgement: true };
  const create = (key: string): Promise<Response> =>
    fetch(jobsUrl, { method: 'POST', headers: { ...headers, 'idempotency-key': key }, body: JSON.stringify(job) });

  /** Answers by kind: how often each status came, and what was not as promised. */
  class Load {
    readonly counts: Record<string, number> = {};
    readonly faults: string[] = [];
    /** Job by Idempotency-Key. */
    readonly acknowledged = new Map<string, string>();
    readonly #stop = new AbortController();
    readonly #callers = Array.from({ length: CALLERS }, (_, index) => this.#call(index));

    async stop(): Promise<void> {
      this.#stop.abort();
      await Promise.all(this.#callers);
    }

    async #call(index: number): Promise<void> {
      while (!this.#stop.signal.aborted) {
        if (index % 3 === 0) await this.#read();
        else await this.#create(randomUUID());
      }
    }

    async #read(): Promise<void> {
      const answer = await fetch(`${url}/api/routers`, { headers });
      await this.#check('GET', answer);
      await pause(5);
    }

    /** One job, asked for with the same key until it is acknowledged, as the interface tells callers to. */
    async #create(key: string): Promise<void> {
      for (;;) {
        const answer = await create(key);
        const text = await this.#check('POST', answer);
        if (answer.status === 200) {
          this.acknowledged.set(key, (JSON.parse(text) as { data: { job_id: string } }).data.job_id);
          return;
        }
        await pause(20);
      }
    }

    async #check(method: string, answer: Response): Promise<string> {
      const text = await answer.text();
      const kind = `${method} ${answer.status}`;
      this.counts[kind] = (this.counts[kind] ?? 0) + 1;
      const isFine = answer.status === 200 || (answer.status === 503 && Number(answer.headers.get('retry-after')) > 0);
      if (!isFine && this.faults.length < 20) this.faults.push(`${kind} ${text}`);
      return text;
    }

    get served(): number {
      return (this.counts['GET 200'] ?? 0) + (this.counts['POST 200'] ?? 0);
    }
  }

  /** Everything that was acknowledged is there, once. */
  async function expectAllKept({ acknowledged }: Load): Promise<void> {
    const storage = await openStorage(databaseUrl, { log: silentLog });
    const rows = await storage.db.selectFrom('jobs').select(['id', 'idempotency_key']).execute();
    const open = await storage.db.selectFrom('idempotency_keys').select('key').where('status', 'is', null).execute();
    await storage.close();
    const byKey = Map.groupBy(rows, (row) => row.idempotency_key);
    for (const [key, id] of acknowledged) expect(byKey.get(key)?.map((row) => row.id)).toEqual([id]);
    // The answer was given, and could not be kept in the database.
    for (const { key } of open) {
      const answer = await create(key);
      expect([answer.status, ((await answer.json()) as { data: { job_id: string } }).data.job_id]).toEqual([200, acknowledged.get(key)]);
    }
  }

  test.for<{ mode: HaltMode; absentMs: number }>([
    { mode: 'fast', absentMs: 0 },
    { mode: 'immediate', absentMs: 0 },
    { mode: 'fast', absentMs: 12_000 },
  ])(
    'can restart ($mode, down for $absentMs ms): 503 with Retry-After, nothing lost, nothing duplicated',
    async ({ mode, absentMs }, { annotate }) => {
      const load = new Load();
      await waitUntil('the load runs', () => load.served > 50);
      const linesBefore = server.lineCount;
      await postgres.halt(mode);
      if (absentMs > 0) {
        await waitUntil('not ready', async () => (await fetch(`${url}/readyz`)).status === 503);
        expect((await fetch(`${url}/healthz`)).status).toBe(200);
        await pause(absentMs);
      }
      await postgres.resume();
      const resumedAt = performance.now();
      const servedBefore = load.served;
      await waitUntil('requests are served again', () => load.served > servedBefore + 50, RECOVERY_MS);
      const recoveryMs = performance.now() - resumedAt;
      await load.stop();
      expect(load.faults).toEqual([]);
      expect(recoveryMs).toBeLessThan(RECOVERY_MS);
      expect(server.isRunning).toBe(true);
      await expectAllKept(load);
      // Refused requests have their share of the log (compose.ts); the loops say it once.
      expect(server.lineCount - linesBefore).toBeLessThan(700);
      await annotate(`${JSON.stringify(load.counts)}, ${load.acknowledged.size} jobs, recovered in ${Math.round(recoveryMs)} ms`);
    },
  );

  test('can be down when the control plane starts: 503 until it is up', async () => {
    await server.stop();
    await postgres.halt('fast');
    server.start();
    await waitUntil('the process answers', async () => (await fetch(`${url}/healthz`).catch(() => undefined))?.status === 200);
    const paths = ['/readyz', '/api/routers', '/openapi.json', '/oidc/.well-known/openid-configuration', '/agent/v1/tunnel'];
    for (const asked of paths) {
      const answer = await fetch(url + asked, { headers });
      expect([asked, answer.status, Number(answer.headers.get('retry-after')) > 0]).toEqual([asked, 503, true]);
    }
    await postgres.resume();
    await isReady();
    await waitUntil('served', async () => (await fetch(`${url}/api/routers`, { headers })).status === 200);
  });

  test('does not delay the shutdown of a starting control plane when it stays down', async () => {
    await server.stop();
    await postgres.halt('fast');
    server.start();
    await waitUntil('the process answers', async () => (await fetch(`${url}/healthz`).catch(() => undefined))?.status === 200);
    expect(await server.stop()).toBe(0);
    await postgres.resume();
  });
});
