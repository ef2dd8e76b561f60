import { beforeEach, expect, test, vi } from 'vitest';
import { AppError, LostCommit } from '../../server/platform/core/errors.ts';
import { newId } from '../../server/platform/core/ids.ts';
import type { Storage, Tx } from '../../server/platform/storage/db.ts';
import { RoutersService } from '../../server/fleet/routers/service.ts';
import type { RouterRecord } from '../../server/fleet/routers/types.ts';
import { JobsService } from '../../server/work/jobs/service.ts';
import { DEFAULT_JOB_RULES } from '../../server/work/jobs/types.ts';
import type { JobRecord, NewJob } from '../../server/work/jobs/types.ts';
import { countStatements } from '../harness/count-statements.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { seedRouter } from '../harness/seed.ts';
import type { SeededRouter } from '../harness/seed.ts';
import { silentLog } from '../harness/silent-log.ts';

/** Callers of the benchmark. */
const CALLERS = 64;

const JOB: NewJob = {
  description: 'd',
  script: ':put 1',
  makeBackup: false,
  expressExecute: false,
  needsAcknowledgement: true,
  notifyUrl: undefined,
  timeoutSeconds: undefined,
  deliverWithinMinutes: undefined,
};

interface Wanted {
  router?: SeededRouter;
  key?: string;
  job?: Partial<NewJob>;
  beside?: (tx: Tx, jobs: readonly JobRecord[]) => Promise<void>;
}

describeEachDatabase('jobs that come together', (open) => {
  let storage: Storage;
  let one: SeededRouter;
  let two: SeededRouter;
  let records: Map<string, RouterRecord>;

  beforeEach(async () => {
    storage = await open();
    one = await seedRouter(storage);
    two = await seedRouter(storage);
    const routers = newRouters();
    records = new Map();
    for (const { teamId, routerId } of [one, two]) records.set(routerId, await routers.getRouter(teamId, routerId));
  });

  const clock = new ManualClock();
  const newRouters = () => new RoutersService({ storage, clock, log: silentLog, rules: { offlineAfterMs: 90_000 } });

  /** Routers are known already, as if each had been there when its job was asked for. */
  function newJobs(ownStorage = storage): JobsService {
    return new JobsService({
      storage: ownStorage,
      gateway: { notify: () => false },
      routers: { getRouter: (_team, id) => Promise.resolve(records.get(id)!) },
      clock,
      log: silentLog,
      rules: DEFAULT_JOB_RULES,
      notifyUrls: { allowLoopback: true },
    });
  }

  function create(jobs: JobsService, { router = one, key, job = {}, beside }: Wanted = {}): Promise<JobRecord> {
    const request = { requestId: newId(1000), idempotencyKey: key ?? newId(1000), keyGiven: key !== undefined };
    return jobs.createJob(router.teamId, router.routerId, { ...JOB, ...job }, request, beside);
  }

  const stored = () => storage.db.selectFrom('jobs').selectAll().orderBy('id').execute();
  const many = (make: (index: number) => Promise<JobRecord>) => Promise.all(Array.from({ length: CALLERS }, (_, index) => make(index)));

  test('share one transaction of few statements, whichever their teams, keys and receivers are', async () => {
    const jobs = newJobs();
    // The open jobs of each team are counted once.
    for (const router of [one, two]) await create(jobs, { router });
    const before = await stored();
    const transactions = vi.spyOn(storage.writes, 'write');
    const made: JobRecord[] = [];
    const statements = await countStatements(async () => {
      made.push(
        ...(await many((index) =>
          create(jobs, {
            router: index % 2 === 0 ? one : two,
            ...(index % 3 === 0 ? { key: `key ${index}` } : {}),
            job: index % 5 === 0 ? { notifyUrl: 'http://127.0.0.1/jobs' } : {},
          }),
        )),
      );
    });
    expect(transactions).toHaveBeenCalledTimes(1);
    // The keys, the routers, the jobs in parts of 32 rows, and their events.
    expect(statements).toBeLessThanOrEqual(5);
    const rows = (await stored()).filter(({ id }) => !before.some((job) => job.id === id));
    expect(rows).toEqual(made.toSorted((a, b) => (a.id < b.id ? -1 : 1)));
    const events = await storage.db.selectFrom('job_events').select(['job_id', 'team_id', 'type', 'seq', 'state']).execute();
    const told = rows.filter((job) => job.notify_url !== null);
    expect(events.toSorted((a, b) => (a.job_id < b.job_id ? -1 : 1))).toEqual(
      told.map(({ id, team_id }) => ({ job_id: id, team_id, type: 'job.loaded', seq: 1, state: 'pending' })),
    );
    expect(told.every((job) => job.notified_version === 1)).toBe(true);
    await jobs.stop();
  });

  test('find the earlier job of their key, also one of the same moment', async () => {
    const jobs = newJobs();
    const first = await create(jobs, { key: 'kept' });
    const published = vi.fn();
    jobs.changes.subscribe(published);
    const [again, elsewhere, a, b, other] = await Promise.all([
      create(jobs, { key: 'kept' }),
      create(jobs, { key: 'kept', router: two }),
      create(jobs, { key: 'new' }),
      create(jobs, { key: 'new' }),
      create(jobs),
    ]);
    expect(again).toEqual(first);
    expect(elsewhere.id).not.toBe(first.id);
    expect(a).toEqual(b);
    expect(new Set((await stored()).map(({ id }) => id))).toEqual(new Set([first, elsewhere, a, other].map(({ id }) => id)));
    expect(published).toHaveBeenCalledTimes(3);
    await jobs.stop();
  });

  test('do not share the error of one of them', async () => {
    const jobs = newJobs();
    await create(jobs);
    await storage.db.updateTable('routers').set({ removed_at: 5 }).where('id', '=', two.routerId).execute();
    const results = await Promise.allSettled([
      create(jobs),
      create(jobs, { router: two }),
      create(jobs, { job: { script: 'a\0b' } }),
      create(jobs, { key: 'kept' }),
    ]);
    expect(results.map((result) => (result.status === 'fulfilled' ? 'stored' : (result.reason as { code: string }).code))).toEqual([
      'stored',
      'not_found',
      'invalid',
      'stored',
    ]);
    expect(await stored()).toHaveLength(3);
    await jobs.stop();
  });

  test('store together what belongs to them, and a refusal of that stops only its own', async () => {
    const jobs = newJobs();
    await create(jobs);
    const seen: string[][] = [];
    const allowed = async (_tx: Tx, made: readonly JobRecord[]) => void seen.push(made.map(({ id }) => id));
    const refused = async (_tx: Tx, made: readonly JobRecord[]) => {
      if (made.length > 0) throw new AppError('conflict', 'no longer wanted');
    };
    const transactions = vi.spyOn(storage.writes, 'write');
    const good = await Promise.all([create(jobs, { beside: allowed }), create(jobs), create(jobs, { beside: allowed })]);
    expect(transactions).toHaveBeenCalledTimes(1);
    expect(seen).toEqual([[good[0].id, good[2].id]]);
    const mixed = await Promise.allSettled([create(jobs, { beside: allowed }), create(jobs, { beside: refused }), create(jobs)]);
    expect(mixed.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(mixed[1]).toMatchObject({ reason: { code: 'conflict' } });
    expect(await stored()).toHaveLength(6);
    await jobs.stop();
  });

  test('are not stored again when it is unknown whether they are', async () => {
    const losing: Storage = {
      ...storage,
      writes: {
        write: async (work) => {
          await storage.writes.write(work);
          throw new LostCommit(new Error('cut'));
        },
      },
    };
    const jobs = newJobs(losing);
    const results = await Promise.allSettled([create(jobs), create(jobs), create(jobs)]);
    for (const result of results) expect(result).toMatchObject({ status: 'rejected', reason: { code: 'outcome_unknown' } });
    expect(await stored()).toHaveLength(3);
    await jobs.stop();
  });

  test('on a router that is being removed, wait for that and hold up no other job', async () => {
    if (storage.engine === 'sqlite') return; // One transaction at a time.
    const jobs = newJobs();
    for (const router of [one, two]) await create(jobs, { router });
    const locked = Promise.withResolvers<void>();
    const end = Promise.withResolvers<void>();
    const removal = storage.writes.write(async (tx) => {
      await tx.selectFrom('routers').select('id').where('id', '=', two.routerId).forUpdate().execute();
      await tx.updateTable('routers').set({ removed_at: 5 }).where('id', '=', two.routerId).execute();
      locked.resolve();
      await end.promise;
    });
    await locked.promise;
    const late = create(jobs, { router: two }).catch((error: unknown) => error);
    const others = await Promise.all([create(jobs), create(jobs)]);
    expect(others).toHaveLength(2);
    // Neither does it hold up those that come later.
    await create(jobs);
    end.resolve();
    await removal;
    expect(await late).toMatchObject({ code: 'not_found' });
    await jobs.stop();
  });
});
