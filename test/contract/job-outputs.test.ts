import { beforeEach, expect, test } from 'vitest';
import { Counters } from '../../server/platform/core/counters.ts';
import { newId } from '../../server/platform/core/ids.ts';
import { JobsService } from '../../server/work/jobs/service.ts';
import { OutputRetention } from '../../server/work/jobs/retention/outputs.ts';
import { DEFAULT_JOB_RULES } from '../../server/work/jobs/types.ts';
import { RoutersService } from '../../server/fleet/routers/service.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { seedRouter } from '../harness/seed.ts';
import type { SeededRouter } from '../harness/seed.ts';
import { silentLog } from '../harness/silent-log.ts';
import { waitUntil } from '../harness/wait-until.ts';

const UNSAID = { notifyUrl: undefined, timeoutSeconds: undefined, undoSeconds: undefined, deliverWithinMinutes: 60 };

describeEachDatabase('the output of jobs', (open) => {
  let storage: Storage;
  let clock: ManualClock;
  let counters: Counters;
  let mine: SeededRouter;
  let other: SeededRouter;

  beforeEach(async () => {
    storage = await open();
    clock = new ManualClock();
    counters = new Counters();
    mine = await seedRouter(storage);
    other = await seedRouter(storage);
  });

  const retention = () => new OutputRetention({ storage, clock, log: silentLog, counters, keepBytes: 1000 });

  /** A job of a router that has printed so much. @returns its id */
  async function printed({ teamId, routerId }: SeededRouter, output: string | null): Promise<string> {
    const routers = new RoutersService({ storage, clock, log: silentLog, rules: { offlineAfterMs: 75_000 } });
    const gateway = {
      notify: () => false,
      request: () => Promise.reject(new Error('offline')),
      epoch: () => undefined,
      disconnect: () => undefined,
    };
    const jobs = new JobsService({
      storage,
      gateway,
      routers,
      clock,
      log: silentLog,
      rules: DEFAULT_JOB_RULES,
      notifyUrls: { allowLoopback: true },
    });
    clock.advance(1);
    const wanted = { description: 'd', script: ':put 1', makeBackup: false, expressExecute: true, needsAcknowledgement: true, ...UNSAID };
    const request = { idempotencyKey: newId(clock.now()), keyGiven: false, requestId: newId(clock.now()) };
    const { id } = await jobs.createJob(teamId, routerId, wanted, request);
    await storage.db.updateTable('jobs').set({ output, phase: 'done' }).where('id', '=', id).execute();
    return id;
  }

  const outputOf = async (id: string) =>
    storage.db.selectFrom('jobs').select(['output', 'output_truncated', 'phase']).where('id', '=', id).executeTakeFirstOrThrow();

  test('is deleted oldest first beyond the bytes of its team, while the jobs and the outputs of other teams stay', async () => {
    const oldest = await printed(mine, 'x'.repeat(400));
    const theirs = await printed(other, 'y'.repeat(900));
    const silent = await printed(mine, null);
    const older = await printed(mine, 'ü'.repeat(250));
    const newest = await printed(mine, 'x'.repeat(500));
    await retention().sweep();
    expect(await outputOf(oldest)).toEqual({ output: null, output_truncated: 1, phase: 'done' });
    expect(await outputOf(older)).toMatchObject({ output: 'ü'.repeat(250), output_truncated: 0 });
    expect(await outputOf(newest)).toMatchObject({ output: 'x'.repeat(500) });
    expect(await outputOf(theirs)).toMatchObject({ output: 'y'.repeat(900) });
    expect(await outputOf(silent)).toMatchObject({ output: null, output_truncated: 0 });
    expect(counters.get('job_output_bytes_per_team')).toBe(1);
  });

  test('is swept every hour, and as soon as a team has stored much of it', async () => {
    const first = await printed(mine, 'x'.repeat(900));
    await printed(mine, 'x'.repeat(900));
    const outputs = retention();
    outputs.start();
    outputs.changed({ team_id: mine.teamId, output: 'x'.repeat(49) });
    expect((await outputOf(first)).output).not.toBeNull();
    outputs.changed({ team_id: mine.teamId, output: 'x' });
    await waitUntil('the oldest output is forgotten', async () => (await outputOf(first)).output === null);
    const second = await printed(other, 'x'.repeat(900));
    await printed(other, 'x'.repeat(900));
    await waitUntil('the hourly look forgets it', async () => {
      clock.advance(3600_000);
      return (await outputOf(second)).output === null;
    });
    await outputs.stop();
  });
});
