import { beforeEach, expect, test, vi } from 'vitest';
import type { AgentConnection, Notice } from '../../server/platform/core/agent-gateway.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { RoutersService } from '../../server/fleet/routers/service.ts';
import { JobsService } from '../../server/work/jobs/service.ts';
import { DEFAULT_JOB_RULES } from '../../server/work/jobs/types.ts';
import type { JobRecord } from '../../server/work/jobs/types.ts';
import { countStatements } from '../harness/count-statements.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { seedRouter } from '../harness/seed.ts';
import type { SeededRouter } from '../harness/seed.ts';
import { silentLog } from '../harness/silent-log.ts';

const ROUTERS = 32;
const DONE = { outcome: 'completed', reason: null, error: null, output: null, output_truncated: false } as const;

describeEachDatabase('what agents report of many jobs at the same time', (open) => {
  let storage: Storage;
  let routers: SeededRouter[];
  let jobs: JobsService;
  let made: JobRecord[];
  let sent: Notice[];

  beforeEach(async () => {
    storage = await open();
    const first = await seedRouter(storage);
    routers = [first];
    // Each has an agent of its own.
    while (routers.length < ROUTERS) routers.push(await seedRouter(storage, { teamId: first.teamId }));
    sent = [];
    const clock = new ManualClock();
    jobs = new JobsService({
      storage,
      gateway: { notify: (_agentId, message) => sent.push(message) > 0 },
      routers: new RoutersService({ storage, clock, log: silentLog, rules: { offlineAfterMs: 90_000 } }),
      clock,
      log: silentLog,
      rules: DEFAULT_JOB_RULES,
      notifyUrls: { allowLoopback: true },
    });
    made = await Promise.all(
      routers.map(({ teamId, routerId }, index) =>
        jobs.createJob(
          teamId,
          routerId,
          {
            description: 'd',
            script: ':put 1',
            makeBackup: false,
            expressExecute: false,
            needsAcknowledgement: true,
            notifyUrl: undefined,
            timeoutSeconds: undefined,
            deliverWithinMinutes: undefined,
          },
          { requestId: 'r', idempotencyKey: `key ${index}`, keyGiven: false },
        ),
      ),
    );
  });

  const connectionOf = (index: number): AgentConnection => {
    const { teamId, agentId } = routers[index]!;
    return { teamId, agentId, epoch: 0, address: '', reset: false };
  };
  const ofAll = (report: (connection: AgentConnection, jobId: string) => Promise<void>) =>
    Promise.all(made.map(({ id }, index) => report(connectionOf(index), id)));
  const phases = async () => {
    const rows = await storage.db.selectFrom('jobs').select(['id', 'phase']).execute();
    const found = new Map(rows.map(({ id, phase }) => [id, phase]));
    return made.map(({ id }) => found.get(id));
  };
  const all = (phase: string) => Array.from({ length: ROUTERS }, () => phase);

  test('is stored together: acceptance, start and end are a transaction each', async () => {
    const transactions = vi.spyOn(storage.writes, 'write');
    await ofAll((connection, id) => jobs.onJobAccepted(connection, id));
    expect(await phases()).toEqual(all('accepted'));
    await ofAll((connection, id) => jobs.onJobBegan(connection, id));
    expect(await phases()).toEqual(all('running'));
    const statements = await countStatements(() => ofAll((connection, id) => jobs.onJobEnded(connection, id, DONE)));
    expect(await phases()).toEqual(all('done'));
    expect(transactions).toHaveBeenCalledTimes(3);
    // One for each job, and one that asks whether anybody wants to know.
    expect(statements).toBeLessThanOrEqual(ROUTERS + 1);
    expect(sent.map(({ type }) => type)).toEqual([...all('job.go'), ...all('job.ack')]);
    await jobs.stop();
  });

  test('is stored in order for each job', async () => {
    await ofAll(async (connection, id) => {
      await Promise.all([jobs.onJobAccepted(connection, id), jobs.onJobBegan(connection, id), jobs.onJobEnded(connection, id, DONE)]);
    });
    const rows = await storage.db.selectFrom('jobs').select(['phase', 'version', 'accepted_at', 'started_at']).execute();
    for (const row of rows)
      expect(row).toEqual({ phase: 'done', version: 4, accepted_at: expect.any(Number), started_at: expect.any(Number) });
    await jobs.stop();
  });

  test('is not refused for one that cannot be stored, or does not count', async () => {
    const results = await Promise.allSettled([
      jobs.onJobAccepted(connectionOf(0), made[0]!.id),
      jobs.onJobAccepted(connectionOf(1), 'a\0b'),
      jobs.onJobAccepted({ ...connectionOf(2), epoch: 7 }, made[2]!.id),
      jobs.onJobAccepted(connectionOf(3), made[3]!.id),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
    expect((await phases()).slice(0, 4)).toEqual(['accepted', 'queued', 'queued', 'accepted']);
    expect(sent.map(({ type }) => type).toSorted()).toEqual(['job.go', 'job.go', 'job.revoke']);
    await jobs.stop();
  });
});
