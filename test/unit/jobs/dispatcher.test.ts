import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AgentConnection, Notice } from '../../../server/platform/core/agent-gateway.ts';
import { JobsService } from '../../../server/work/jobs/service.ts';
import { DEFAULT_JOB_RULES } from '../../../server/work/jobs/types.ts';
import type { JobRecord, NewJob } from '../../../server/work/jobs/types.ts';
import { RoutersService } from '../../../server/fleet/routers/service.ts';
import type { Storage } from '../../../server/platform/storage/db.ts';
import { migrate } from '../../../server/platform/storage/migrate.ts';
import { openStorage } from '../../../server/platform/storage/open.ts';
import { countStatements } from '../../harness/count-statements.ts';
import { turns } from '../../harness/jobs/random.ts';
import { ManualClock } from '../../harness/manual-clock.ts';
import { seedRouter } from '../../harness/seed.ts';
import type { SeededRouter } from '../../harness/seed.ts';
import { silentLog } from '../../harness/silent-log.ts';

/** The control plane's side of the hand-over, with a test in the place of the agent. */

const completed = { outcome: 'completed', reason: null, error: null, output: null, output_truncated: false } as const;

describe('queued jobs', () => {
  const clock = new ManualClock();
  let storage: Storage;
  let jobs: JobsService;
  let one: SeededRouter;
  let two: SeededRouter;
  let connection: AgentConnection;
  let sent: Notice[];
  let isConnected: boolean;

  beforeEach(async () => {
    storage = await openStorage('sqlite::memory:', { log: silentLog });
    await migrate(storage);
    one = await seedRouter(storage);
    two = await seedRouter(storage, one);
    sent = [];
    isConnected = true;
    connection = { teamId: one.teamId, agentId: one.agentId, epoch: 0, address: '', reset: false };
    jobs = newService();
  });

  afterEach(async () => {
    await jobs.stop();
    await storage.close();
  });

  function newService(agentsApartMs = 0): JobsService {
    const service = new JobsService({
      storage,
      gateway: {
        notify: (_agentId, message) => {
          if (isConnected) sent.push(message);
          return isConnected;
        },
      },
      routers: new RoutersService({ storage, clock, log: silentLog, rules: { offlineAfterMs: 90_000 } }),
      clock,
      log: silentLog,
      rules: DEFAULT_JOB_RULES,
      notifyUrls: { allowLoopback: false },
      random: () => 1,
      agentsApartMs,
    });
    service.start();
    return service;
  }

  function create(wanted: Partial<NewJob> = {}, router = one): Promise<JobRecord> {
    const job: NewJob = {
      description: 'd',
      script: ':put 1',
      makeBackup: false,
      expressExecute: false,
      needsAcknowledgement: true,
      notifyUrl: undefined,
      timeoutSeconds: undefined,
      deliverWithinMinutes: undefined,
      ...wanted,
    };
    return jobs.createJob(router.teamId, router.routerId, job, { requestId: 'r', idempotencyKey: randomUUID(), keyGiven: false });
  }

  const express = (router = one) => create({ expressExecute: true }, router);
  const beat = (router = one, reachable = true) =>
    jobs.onHeartbeat(connection, {
      type: 'heartbeat',
      routers: [{ name: `router ${router.routerId}`, reachable, uptime_seconds: null, reason: null }],
    });

  /** What was sent since the last call, once everything has settled. */
  async function news(): Promise<string[]> {
    await turns(30);
    return sent.splice(0).map((message) => `${message.type} ${'job_id' in message ? message.job_id : ''}`);
  }

  async function read(job: JobRecord): Promise<JobRecord> {
    return jobs.getJob(job.team_id, job.router_id, job.id);
  }

  const run = async (job: JobRecord): Promise<void> => {
    await jobs.onJobAccepted(connection, job.id);
    await jobs.onJobBegan(connection, job.id);
    await jobs.onJobEnded(connection, job.id, completed);
  };

  it('are offered at once when they are express jobs', async () => {
    await jobs.onReady(connection, []);
    const job = await express();
    expect(await news()).toEqual([`job.offer ${job.id}`]);
    await run(job);
    expect(await news()).toEqual([`job.go ${job.id}`, `job.ack ${job.id}`]);
    expect(await read(job)).toMatchObject({ phase: 'done' });
  });

  it('are offered at the next check-in of their own router when they are not express jobs', async () => {
    await jobs.onReady(connection, []);
    await news();
    const job = await create();
    beat(two);
    beat(one, false);
    expect(await news()).toEqual([]);
    beat();
    expect(await news()).toEqual([`job.offer ${job.id}`]);
  });

  it('are looked for together when routers check in one after the other, and at once for an express job', async () => {
    await jobs.stop();
    jobs = newService(60_000);
    await jobs.onReady(connection, []);
    await news();
    const [job, other] = [await create(), await create({}, two)];
    beat();
    beat(two);
    expect(await news()).toEqual([]);
    const urgent = await express();
    // The express job goes first; what has checked in meanwhile comes with it.
    expect((await news()).toSorted()).toEqual([`job.offer ${urgent.id}`, `job.offer ${other.id}`].toSorted());
    await run(urgent);
    expect((await news()).at(-1)).toBe(`job.offer ${job.id}`);
  });

  it('are read together for routers that can get one at the same time', async () => {
    const many = [one, two];
    while (many.length < 64) many.push(await seedRouter(storage, one));
    const wanted: JobRecord[] = [];
    for (const [index, router] of many.entries()) wanted.push(await create({ expressExecute: index % 2 === 0 }, router));
    const statements = await countStatements(async () => {
      await jobs.onReady(connection, []);
      expect((await news()).toSorted()).toEqual(wanted.map(({ id }) => `job.offer ${id}`).toSorted());
    });
    // What the agent held before, routers that wait, their jobs.
    expect(statements).toBe(3);
  });

  it('are offered when their agent comes back', async () => {
    const job = await create();
    expect(await news()).toEqual([]);
    await jobs.onReady(connection, []);
    expect(await news()).toEqual([`job.offer ${job.id}`]);
  });

  it('run one after the other on a router, express jobs first, without delaying another router', async () => {
    const [first, second] = [await create(), await create()];
    const other = await create({}, two);
    await jobs.onReady(connection, []);
    expect((await news()).sort()).toEqual([`job.offer ${first.id}`, `job.offer ${other.id}`].sort());
    const urgent = await express();
    expect(await news()).toEqual([]);
    await run(first);
    expect((await news()).at(-1)).toBe(`job.offer ${urgent.id}`);
    await run(urgent);
    expect((await news()).at(-1)).toBe(`job.offer ${second.id}`);
  });

  it('are offered again after a pause that grows when the agent declines', async () => {
    await jobs.onReady(connection, []);
    const job = await express();
    expect(await news()).toHaveLength(1);
    for (const pause of [5000, 10_000, 20_000]) {
      await jobs.onJobDeclined(connection, { type: 'job.declined', job_id: job.id, reason: 'busy' });
      beat();
      await turns(10);
      clock.advance(pause - 1);
      expect(await news()).toEqual([]);
      clock.advance(1);
      expect(await news()).toEqual([`job.offer ${job.id}`]);
    }
  });

  it('are offered again at once when an unreachable router checks in', async () => {
    await jobs.onReady(connection, []);
    const job = await express();
    await news();
    await jobs.onJobDeclined(connection, { type: 'job.declined', job_id: job.id, reason: 'router_unreachable' });
    await turns(10);
    beat();
    expect(await news()).toEqual([`job.offer ${job.id}`]);
  });

  it('are offered again when the agent does not answer', async () => {
    await jobs.onReady(connection, []);
    const job = await express();
    await news();
    clock.advance(15_000);
    await turns(10);
    clock.advance(5000);
    expect(await news()).toEqual([`job.offer ${job.id}`]);
  });

  it('are offered at once after a job that the agent finished before the database was restored', async () => {
    const restored = [await create(), await create(), await create()];
    await jobs.onReady(connection, []);
    for (const job of restored) {
      expect((await news()).at(-1)).toBe(`job.offer ${job.id}`);
      await jobs.onJobEnded(connection, job.id, completed);
    }
    expect(await news()).toEqual([`job.ack ${restored[2]!.id}`]);
    for (const job of restored) expect(await read(job)).toMatchObject({ phase: 'done' });
  });

  it('are not offered while the agent still runs a job from before the restore', async () => {
    const [begun, next] = [await create(), await create()];
    await jobs.onReady(connection, []);
    expect(await news()).toEqual([`job.offer ${begun.id}`]);
    await jobs.onJobBegan(connection, begun.id);
    clock.advance(15_000);
    expect(await news()).toEqual([]);
    await jobs.onJobEnded(connection, begun.id, completed);
    expect(await news()).toEqual([`job.ack ${begun.id}`, `job.offer ${next.id}`]);
  });

  it('are offered again after a pause when the agent had refused them before the restore', async () => {
    await jobs.onReady(connection, []);
    const job = await express();
    await news();
    await jobs.onJobRefused(connection, job.id);
    expect(await news()).toEqual([`job.ack ${job.id}`]);
    clock.advance(5000);
    expect(await news()).toEqual([`job.offer ${job.id}`]);
  });

  it('get permission to run again when the agent lists them as accepted', async () => {
    const job = await express();
    await jobs.onReady(connection, []);
    await jobs.onJobAccepted(connection, job.id);
    await news();
    await storage.db.updateTable('agents').set({ epoch: 1 }).execute();
    jobs.onGone(connection);
    connection = { ...connection, epoch: 1 };
    await jobs.onReady(connection, [{ job_id: job.id, state: 'accepted' }]);
    expect(await news()).toEqual([`job.go ${job.id}`]);
  });

  it('become unknown when their agent no longer lists them', async () => {
    const job = await express();
    await jobs.onReady(connection, []);
    await jobs.onJobAccepted(connection, job.id);
    await storage.db.updateTable('agents').set({ epoch: 1 }).execute();
    await jobs.onReady({ ...connection, epoch: 1, reset: true }, []);
    expect(await read(job)).toMatchObject({ phase: 'unknown', reason: 'agent_forgot' });
  });

  it('get no second permission from an agent whose journal has lost the BEGIN', async () => {
    const job = await express();
    await jobs.onReady(connection, []);
    await jobs.onJobAccepted(connection, job.id);
    await jobs.onJobBegan(connection, job.id);
    await news();
    await jobs.onReady(connection, [{ job_id: job.id, state: 'accepted' }]);
    expect(await news()).toEqual([`job.revoke ${job.id}`]);
    expect(await read(job)).toMatchObject({ phase: 'unknown', reason: 'agent_forgot' });
  });

  it('are revoked at the agent when they have expired meanwhile', async () => {
    const job = await create({ expressExecute: true, deliverWithinMinutes: 1 });
    await jobs.onReady(connection, []);
    await news();
    clock.advance(60_000);
    await jobs.onJobAccepted(connection, job.id);
    expect(await news()).toEqual([`job.revoke ${job.id}`]);
    await jobs.onJobRefused(connection, job.id);
    expect(await news()).toEqual([`job.ack ${job.id}`]);
    clock.advance(10_000);
    await turns(30);
    expect(await read(job)).toMatchObject({ phase: 'expired' });
  });

  it('become unknown after their timeout and the grace when their agent never comes back', async () => {
    const job = await create({ expressExecute: true, timeoutSeconds: 60 });
    await jobs.onReady(connection, []);
    await jobs.onJobAccepted(connection, job.id);
    await jobs.onJobBegan(connection, job.id);
    clock.advance(60_000 + DEFAULT_JOB_RULES.graceMs - 1);
    await turns(30);
    expect(await read(job)).toMatchObject({ phase: 'running' });
    clock.advance(10_000);
    await turns(30);
    expect(await read(job)).toMatchObject({ phase: 'unknown', reason: 'timed_out' });
  });

  describe('that are canceled', () => {
    it('are never sent when they are still queued', async () => {
      const job = await create();
      expect(await jobs.cancelJob(job.team_id, job.router_id, job.id)).toMatchObject({ state: 'deleted', job: { phase: 'canceled' } });
      await jobs.onReady(connection, []);
      expect(await news()).toEqual([]);
    });

    it('are given back by an agent that has not begun them', async () => {
      const job = await express();
      await jobs.onReady(connection, []);
      await jobs.onJobAccepted(connection, job.id);
      await news();
      const cancellation = jobs.cancelJob(job.team_id, job.router_id, job.id);
      expect(await news()).toEqual([`job.revoke ${job.id}`]);
      await jobs.onJobRefused(connection, job.id);
      expect(await cancellation).toMatchObject({ state: 'deleted', job: { phase: 'canceled' } });
    });

    it('cannot be recalled once the agent has begun them', async () => {
      const job = await express();
      await jobs.onReady(connection, []);
      await jobs.onJobAccepted(connection, job.id);
      const cancellation = jobs.cancelJob(job.team_id, job.router_id, job.id);
      const refused = expect(cancellation).rejects.toMatchObject({ code: 'conflict' });
      await news();
      await jobs.onJobBegan(connection, job.id);
      await refused;
      await expect(jobs.cancelJob(job.team_id, job.router_id, job.id)).rejects.toMatchObject({ code: 'conflict' });
    });

    it('are revoked when an agent that is offline comes back', async () => {
      const job = await express();
      await jobs.onReady(connection, []);
      await jobs.onJobAccepted(connection, job.id);
      isConnected = false;
      expect(await jobs.cancelJob(job.team_id, job.router_id, job.id)).toMatchObject({ state: 'requested', job: { phase: 'accepted' } });
      await news();
      isConnected = true;
      await jobs.onReady(connection, [{ job_id: job.id, state: 'accepted' }]);
      expect(await news()).toEqual([`job.revoke ${job.id}`]);
    });

    it('are only marked as deleted when they are finished, however often that is requested', async () => {
      const job = await express();
      await jobs.onReady(connection, []);
      await run(job);
      const first = await jobs.cancelJob(job.team_id, job.router_id, job.id);
      expect(first).toMatchObject({ state: 'deleted', job: { phase: 'done' } });
      expect(await jobs.cancelJob(job.team_id, job.router_id, job.id)).toEqual(first);
    });
  });

  it('survive a restart of the control plane', async () => {
    const job = await express();
    await jobs.stop();
    jobs = newService();
    await jobs.onReady(connection, []);
    expect(await news()).toEqual([`job.offer ${job.id}`]);
  });
});
