import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { AgentConnection, Notice } from '../../server/platform/core/agent-gateway.ts';
import { JobsService } from '../../server/work/jobs/service.ts';
import { DEFAULT_JOB_RULES } from '../../server/work/jobs/types.ts';
import type { JobRecord } from '../../server/work/jobs/types.ts';
import { RoutersService } from '../../server/fleet/routers/service.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { migrate } from '../../server/platform/storage/migrate.ts';
import { openStorage } from '../../server/platform/storage/open.ts';
import { turns } from '../harness/jobs/random.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { seedAgent, seedRouter } from '../harness/seed.ts';
import type { SeededRouter } from '../harness/seed.ts';
import { silentLog } from '../harness/silent-log.ts';
import { waitUntil } from '../harness/wait-until.ts';

/** An agent knows the id of a job that is not its own: the job was offered to it before its router moved away. */

const completed = { outcome: 'completed', reason: null, error: null, output: 'forged', output_truncated: false } as const;

describe.each(['of the same team', 'of another team'])('a report of an agent %s about the job of another agent', (whose) => {
  const clock = new ManualClock();
  let storage: Storage;
  let jobs: JobsService;
  let owner: SeededRouter;
  let hostile: AgentConnection;
  let sent: { agentId: string; message: Notice }[];

  const connectionOf = ({ teamId, agentId }: { teamId: string; agentId: string }): AgentConnection => ({
    teamId,
    agentId,
    epoch: 0,
    address: '',
    reset: false,
  });

  beforeEach(async () => {
    storage = await openStorage('sqlite::memory:', { log: silentLog });
    await migrate(storage);
    owner = await seedRouter(storage);
    hostile = connectionOf(
      whose === 'of another team' ? await seedRouter(storage) : { teamId: owner.teamId, agentId: await seedAgent(storage, owner.teamId) },
    );
    sent = [];
    jobs = new JobsService({
      storage,
      gateway: { notify: (agentId, message) => sent.push({ agentId, message }) > 0 },
      routers: new RoutersService({ storage, clock, log: silentLog, rules: { offlineAfterMs: 90_000 } }),
      clock,
      log: silentLog,
      rules: DEFAULT_JOB_RULES,
      notifyUrls: { allowLoopback: false },
      random: () => 1,
    });
    jobs.start();
    await jobs.onReady(connectionOf(owner), []);
    await jobs.onReady(hostile, []);
  });

  afterEach(async () => {
    await jobs.stop();
    await storage.close();
  });

  async function offeredJob(): Promise<JobRecord> {
    const wanted = {
      description: 'd',
      script: ':put 1',
      makeBackup: false,
      expressExecute: true,
      needsAcknowledgement: true,
      notifyUrl: undefined,
      timeoutSeconds: undefined,
      deliverWithinMinutes: undefined,
    };
    const job = await jobs.createJob(owner.teamId, owner.routerId, wanted, {
      requestId: 'r',
      idempotencyKey: randomUUID(),
      keyGiven: false,
    });
    await waitUntil('it is offered', () => sent.some(({ message }) => message.type === 'job.offer' && message.job_id === job.id));
    return job;
  }

  const row = ({ id }: JobRecord) => storage.db.selectFrom('jobs').selectAll().where('id', '=', id).executeTakeFirstOrThrow();

  test("does not replace the report of the job's own agent, and changes nothing", async () => {
    const job = await offeredJob();
    const before = await row(job);
    await jobs.onJobDeclined(hostile, { type: 'job.declined', job_id: job.id, reason: 'busy' });
    await jobs.onJobRefused(hostile, job.id);
    await jobs.onJobBegan(hostile, job.id);
    await jobs.onJobEnded(hostile, job.id, completed);
    await jobs.onJobAccepted(hostile, job.id);
    await turns(20);
    expect(await row(job)).toEqual(before);
    expect(jobs.offers.taken).toBe(1);
    expect(sent.filter(({ agentId, message }) => agentId === hostile.agentId && message.type === 'job.go')).toEqual([]);
    await jobs.onJobAccepted(connectionOf(owner), job.id);
    expect(sent.at(-1)).toEqual({ agentId: owner.agentId, message: { type: 'job.go', job_id: job.id } });
    await waitUntil('the offer is answered', () => jobs.offers.taken === 0);
  });

  test('changes nothing in the job list after a reconnect, whatever state it claims', async () => {
    const job = await offeredJob();
    await jobs.onJobAccepted(connectionOf(owner), job.id);
    await jobs.onJobBegan(connectionOf(owner), job.id);
    const before = await row(job);
    for (const state of ['accepted', 'begun', 'refused'] as const) await jobs.onReady(hostile, [{ job_id: job.id, state }]);
    await jobs.onReady(hostile, [{ job_id: job.id, state: 'ended', result: completed }]);
    expect(await row(job)).toEqual(before);
    await jobs.onJobEnded(connectionOf(owner), job.id, { ...completed, output: 'true' });
    await jobs.onJobEnded(connectionOf(owner), job.id, { ...completed, output: 'written anew' });
    expect(await row(job)).toMatchObject({ phase: 'done', output: 'true' });
  });
});
