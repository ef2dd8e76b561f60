import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Counters } from '../../server/platform/core/counters.ts';
import { BackupsService } from '../../server/work/backups/service.ts';
import { DEFAULT_BACKUP_RULES } from '../../server/work/backups/types.ts';
import type { Backup } from '../../server/work/backups/types.ts';
import type { RequestOptions } from '../../server/platform/core/agent-gateway.ts';
import { AppError } from '../../server/platform/core/errors.ts';
import { newId } from '../../server/platform/core/ids.ts';
import { FIRST_PAGE } from '../../server/platform/core/page.ts';
import { JobChanges } from '../../server/work/jobs/changes.ts';
import type { JobRecord } from '../../server/work/jobs/types.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { openSecrets } from '../../server/platform/storage/secrets.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { insertJob } from '../harness/jobs/insert-job.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { seedRouter } from '../harness/seed.ts';
import type { SeededRouter } from '../harness/seed.ts';
import { silentLog } from '../harness/silent-log.ts';
import { waitUntil } from '../harness/wait-until.ts';

const EXPORT = '# 2026-11-20 10:00:00 by RouterOS 7.18.2\n/system identity\nset name=secret-name\n';
const BINARY = Buffer.concat([Buffer.from('88aca1b1', 'hex'), randomBytes(100)]);
const rules = { ...DEFAULT_BACKUP_RULES, keepPerRouter: 3 };

/** The agents' side: what lies on the routers, and what goes wrong on the way. */
class FakeRouters {
  files = new Map<string, Buffer>();
  isThere = true;
  failure: AppError | undefined;
  isDamaged = false;
  /** Agents that never answer. */
  readonly silent = new Set<string>();
  readonly asked: string[] = [];

  put(jobId: string, part: string, content: Buffer | string): void {
    this.files.set(`${jobId} ${part}`, Buffer.from(content));
  }

  isConnected(): boolean {
    return this.isThere;
  }

  async request(agentId: string, method: string, params: object, options: RequestOptions): Promise<never> {
    const { job_id: jobId, part, parts } = params as { job_id: string; part?: string; parts?: string[] };
    this.asked.push(`${method} ${part ?? parts?.join()}`);
    if (this.failure) throw this.failure;
    if (this.silent.has(agentId)) {
      if (!options.signal!.aborted) await once(options.signal!, 'abort');
      throw new AppError('outcome_unknown', 'given up before the answer');
    }
    if (method === 'backup.remove') {
      for (const each of parts ?? []) this.files.delete(`${jobId} ${each}`);
      return {} as never;
    }
    const content = this.files.get(`${jobId} ${part}`);
    if (!content) throw new AppError('invalid', 'the router has no such file');
    options.onRows?.([{ data: content.toString('base64', 0, 60) }]);
    options.onRows?.([{ data: content.toString('base64', 60) }]);
    const sha256 = createHash('sha256')
      .update(this.isDamaged ? 'other' : content)
      .digest('hex');
    return { size: content.length, sha256 } as never;
  }
}

describeEachDatabase('backups', (open) => {
  let storage: Storage;
  let clock: ManualClock;
  let routers: FakeRouters;
  let changes: JobChanges;
  let service: BackupsService;
  let place: SeededRouter;
  let keyFile: string;

  beforeEach(async () => {
    storage = await open();
    clock = new ManualClock();
    routers = new FakeRouters();
    changes = new JobChanges();
    place = await seedRouter(storage, { now: clock.now() });
    keyFile = path.join(os.tmpdir(), `signalbox-backups-${newId(clock.now())}.key`);
    service = await create();
    service.start();
  });

  afterEach(async () => {
    await service.stop();
    await rm(keyFile, { force: true });
  });

  async function create(given = rules, counters = new Counters(), database = storage): Promise<BackupsService> {
    return new BackupsService({
      counters,
      storage: database,
      clock,
      rules: given,
      log: silentLog,
      gateway: routers as never,
      secrets: await openSecrets(keyFile),
      routers: {
        getRouter: async (teamId, id) =>
          storage.db.selectFrom('routers').selectAll().where('id', '=', id).where('team_id', '=', teamId).executeTakeFirstOrThrow(),
      },
      jobs: {
        changes,
        getJob: async (_team, _router, id) => storage.db.selectFrom('jobs').selectAll().where('id', '=', id).executeTakeFirstOrThrow(),
      },
    });
  }

  /** A job that has ended on its router and left the usual files there. */
  async function endedJob(
    files: Record<string, Buffer | string> = { binary: BINARY, export: EXPORT, export_after: EXPORT },
    { teamId, routerId } = place,
  ): Promise<JobRecord> {
    const id = newId(clock.now());
    for (const [part, content] of Object.entries(files)) routers.put(id, part, content);
    await storage.writes.write((tx) =>
      insertJob(tx, {
        id,
        teamId,
        routerId,
        siteId: null,
        token: 't',
        requestId: 'r',
        idempotencyKey: id,
        description: 'd',
        script: 's',
        expressExecute: true,
        needsAcknowledgement: true,
        makeBackup: true,
        notifyUrl: null,
        timeoutMs: 1000,
        now: clock.now(),
        expiresAt: clock.now() + 1000,
      }),
    );
    await storage.db
      .updateTable('jobs')
      .set({ phase: 'done', started_at: clock.now(), completed_at: clock.now() })
      .where('id', '=', id)
      .execute();
    return storage.db.selectFrom('jobs').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
  }

  const list = (): Promise<Backup[]> => service.listBackups(place.teamId, place.routerId, FIRST_PAGE);

  /** Jobs of the stored backups. */
  const kept = async (): Promise<(string | null)[]> =>
    (await list()).filter(({ record }) => record.state === 'stored').map(({ record }) => record.job_id);

  /** Resolves after another whole sweep: one begins, with what was missed of a neighbour, after the end of the one before. */
  async function sweepAgain(): Promise<void> {
    const neighbour = await seedRouter(storage, { now: clock.now() });
    for (let sweep = 0; sweep < 2; sweep += 1) {
      const { id } = await endedJob(undefined, neighbour);
      await waitUntil('a sweep has begun', async () => {
        clock.advance(11 * 60_000);
        return storage.db.selectFrom('backups').select('id').where('job_id', '=', id).executeTakeFirst();
      });
    }
  }

  function settled(state: string, job?: JobRecord): Promise<Backup> {
    return waitUntil(`the backup is ${state}`, async () =>
      (await list()).find(
        ({ record }) =>
          record.state === state && (job === undefined || record.job_id === job.id) && (state !== 'stored' || record.due_at === null),
      ),
    );
  }

  test('of a team that fills the disk: the oldest go, and another team keeps its own', async () => {
    const neighbour = await seedRouter(storage, { now: clock.now() });
    const theirs = await endedJob(undefined, neighbour);
    changes.publish(theirs);
    const ofNeighbour = () => service.listBackups(neighbour.teamId, neighbour.routerId, FIRST_PAGE);
    await waitUntil('the other team has its backup', async () => (await ofNeighbour()).find(({ record }) => record.state === 'stored'));
    await service.stop();
    const counters = new Counters();
    const size = BINARY.length + 2 * EXPORT.length;
    service = await create({ ...rules, keepBytesPerTeam: 2 * size }, counters);
    service.start();
    const jobs: JobRecord[] = [];
    for (let i = 0; i < 3; i += 1) {
      clock.advance(1000);
      const job = await endedJob();
      jobs.push(job);
      changes.publish(job);
      await settled('stored', job);
    }
    const left = await waitUntil('the oldest is gone', async () => {
      const found = await list();
      return found.length === 2 ? found : undefined;
    });
    expect(left.map(({ record }) => record.job_id)).toEqual([jobs[2]!.id, jobs[1]!.id]);
    expect(counters.get('backup_bytes_per_team')).toBe(1);
    expect(await ofNeighbour()).toHaveLength(1);
  });

  test('is stored encrypted, shown with its job, and only then removed from the router', async () => {
    const job = await endedJob();
    changes.publish(job);
    const { record, parts } = await settled('stored');
    expect(parts.map(({ part }) => part).sort()).toEqual(['binary', 'export', 'export_after']);
    expect(routers.files.size).toBe(0);
    expect(routers.asked.at(-1)).toBe('backup.remove binary,export,export_after');
    const rows = await storage.db.selectFrom('backup_parts').select('content').execute();
    expect(JSON.stringify(rows)).not.toContain('secret-name');
    expect((await service.readFile(place.teamId, place.routerId, record.id, 'export')).content.toString()).toBe(EXPORT);
    expect((await service.readFile(place.teamId, place.routerId, record.id, 'binary')).content).toEqual(BINARY);
    expect(await storage.db.selectFrom('jobs').select('backup_id').executeTakeFirst()).toEqual({ backup_id: record.id });
  });

  test('of one place cannot be read in another', async () => {
    changes.publish(await endedJob({ export: EXPORT }));
    const { record } = await settled('stored');
    const [row] = await storage.db.selectFrom('backup_parts').selectAll().execute();
    await storage.db
      .insertInto('backup_parts')
      .values({ ...row!, part: 'export_after' })
      .execute();
    await expect(service.readFile(place.teamId, place.routerId, record.id, 'export_after')).rejects.toMatchObject({ code: 'internal' });
  });

  test('belongs to its team and its router', async () => {
    const job = await endedJob();
    changes.publish(job);
    const { record } = await settled('stored');
    const other = await seedRouter(storage);
    const neighbour = await seedRouter(storage, { teamId: place.teamId });
    for (const { teamId, routerId } of [{ ...place, teamId: other.teamId }, other, neighbour]) {
      await expect(service.readFile(teamId, routerId, record.id, 'export')).rejects.toMatchObject({ code: 'not_found' });
      await expect(service.compare(teamId, routerId, { from: record.id, to: record.id })).rejects.toMatchObject({ code: 'not_found' });
    }
  });

  test('is not held up by a team whose agents never send theirs', async () => {
    const hostile = await seedRouter(storage);
    for (let agent = 0; agent < 5; agent += 1) {
      const router = agent === 0 ? hostile : await seedRouter(storage, { teamId: hostile.teamId });
      routers.silent.add(router.agentId);
      for (let n = 0; n < 20; n += 1) changes.publish(await endedJob({}, router));
    }
    await waitUntil('the silent ones are asked', () => routers.asked.length === rules.fetchAtOnce.perParty);
    changes.publish(await endedJob());
    await settled('stored');
    expect(routers.asked.filter((asked) => asked.endsWith('binary'))).toHaveLength(rules.fetchAtOnce.perParty + 1);
  });

  test('is not held up by another agent of its team that never sends its own', async () => {
    const silent = await seedRouter(storage, { teamId: place.teamId });
    routers.silent.add(silent.agentId);
    for (let n = 0; n < 20; n += 1) changes.publish(await endedJob({}, silent));
    await waitUntil('the silent one is asked', () => routers.asked.length === rules.fetchAtOnce.perMember);
    changes.publish(await endedJob());
    await settled('stored');
  });

  test('whose agent is away is fetched when it returns', async () => {
    routers.isThere = false;
    changes.publish(await endedJob());
    await waitUntil('it is put off', async () => {
      const [backup] = await list();
      return backup?.record.attempts === 0 && (backup.record.due_at ?? 0) > clock.now() + rules.retryMs;
    });
    routers.isThere = true;
    service.onReady({ ...place, epoch: 1, address: '', reset: false });
    await settled('stored');
  });

  test('is not deleted for its age while it waits for its router', async () => {
    await service.stop();
    service = await create({ ...rules, keepMs: 60_000 });
    service.start();
    routers.isThere = false;
    const job = await endedJob();
    changes.publish(job);
    await waitUntil('it is put off', async () => ((await list())[0]?.record.due_at ?? 0) > clock.now() + rules.retryMs);
    await sweepAgain();
    expect((await list()).map(({ record }) => record.job_id)).toEqual([job.id]);
    routers.isThere = true;
    service.onReady({ ...place, epoch: 1, address: '', reset: false });
    await settled('stored');
    await waitUntil('a sweep has deleted it', async () => {
      clock.advance(11 * 60_000);
      return (await list()).length === 0;
    });
  });

  test('that does not come is tried again, and given up after all attempts', async () => {
    routers.failure = new AppError('outcome_unknown', 'the tunnel broke');
    changes.publish(await endedJob());
    for (let attempt = 1; attempt < rules.attempts; attempt += 1) {
      await waitUntil(`attempt ${attempt}`, async () => (await list())[0]?.record.attempts === attempt);
      clock.advance(3_700_000);
    }
    const { record } = await settled('lost');
    expect(record.error).toContain('the tunnel broke');
    expect(routers.files.size).toBe(3);
  });

  test('is given up like any other when its agent’s reason cannot be stored as it is', async () => {
    routers.failure = new AppError('invalid', 'no such file\0\ud800 here');
    changes.publish(await endedJob());
    const { record } = await settled('lost');
    expect(record.error).toBe('binary: no such file\uFFFD\uFFFD here; export: no such file\uFFFD\uFFFD here');
  });

  test('that came in part is kept, and only the rest is fetched again', async () => {
    const job = await endedJob();
    const whole = routers.request.bind(routers);
    routers.request = async (agentId, method, params, options) => {
      if ('part' in params && params.part === 'export') throw new AppError('router_unreachable', 'away');
      return whole(agentId, method, params, options);
    };
    changes.publish(job);
    await waitUntil('the first attempt', async () => (await list())[0]?.record.attempts === 1);
    routers.request = whole;
    clock.advance(60_000);
    await settled('stored');
    expect(routers.asked.filter((asked) => asked === 'backup.read binary')).toHaveLength(1);
  });

  test.each([
    ['damaged on the way', { binary: BINARY }, true, 'attempt'],
    [
      'not a backup at all',
      { binary: 'expected end of command (line 1 column 9)', export: 'expected end of command (line 1 column 9)' },
      false,
      'lost',
    ],
  ])('that is %s is not stored', async (_what, files, isDamaged, outcome) => {
    routers.isDamaged = isDamaged;
    changes.publish(await endedJob(files));
    if (outcome === 'lost') expect((await settled('lost')).record.error).toContain('not an export');
    else await waitUntil('it failed', async () => (await list())[0]?.record.attempts === 1);
    expect((await list())[0]!.parts).toEqual([]);
  });

  test('without a binary part is one all the same', async () => {
    changes.publish(await endedJob({ export: EXPORT }));
    const { record, parts } = await settled('stored');
    expect(parts).toMatchObject([{ part: 'export' }]);
    expect(record.error).toContain('binary');
  });

  test('whose server died before noting it is found', async () => {
    await endedJob();
    clock.advance(11 * 60_000);
    await settled('stored');
  });

  test('that is lost takes no other’s place', async () => {
    const jobs: JobRecord[] = [];
    for (let count = 0; count < 8; count += 1) {
      clock.advance(1000);
      const job = await endedJob(count < 3 ? undefined : {});
      jobs.push(job);
      changes.publish(job);
      await settled(count < 3 ? 'stored' : 'lost', job);
    }
    const newest = (from: number, to: number): string[] =>
      jobs
        .slice(from, to)
        .reverse()
        .map(({ id }) => id);
    clock.advance(11 * 60_000);
    await waitUntil('the oldest lost ones are gone', async () => (await list()).length === 6);
    expect((await list()).map(({ record }) => record.job_id)).toEqual([...newest(5, 8), ...newest(0, 3)]);
    await sweepAgain();
    expect(await kept()).toEqual(newest(0, 3));
  });

  test.each([
    ['rolled_back', null],
    ['router_rebooted', null],
    ['script_error', 'failure: already have such address'],
  ])('of a job whose beginning was never heard (%s) is fetched, at once or after a restart', async (reason, output) => {
    for (const isPublished of [true, false]) {
      const { id } = await endedJob();
      const ended = { started_at: null, completed_at: null, failed_at: clock.now(), reason, output };
      const job = await storage.db.updateTable('jobs').set(ended).where('id', '=', id).returningAll().executeTakeFirstOrThrow();
      if (isPublished) changes.publish(job);
      else clock.advance(11 * 60_000);
      await settled('stored', job);
    }
  });

  test('of a script with a syntax error is not fetched', async () => {
    const { id } = await endedJob({});
    const ended = { started_at: null, completed_at: null, failed_at: clock.now(), reason: 'script_error', output: null };
    changes.publish(await storage.db.updateTable('jobs').set(ended).where('id', '=', id).returningAll().executeTakeFirstOrThrow());
    const other = await endedJob();
    changes.publish(other);
    await settled('stored', other);
    expect(await list()).toHaveLength(1);
  });

  test('is noted once, and what another process is fetching is left to it', async () => {
    const job = await endedJob();
    changes.publish(job);
    changes.publish(job);
    await settled('stored');
    expect(await list()).toHaveLength(1);
    expect(routers.asked.filter((asked) => asked === 'backup.read binary')).toHaveLength(1);
  });

  test('that is recorded already keeps no other from being recorded', async () => {
    const job = await endedJob();
    changes.publish(job);
    await settled('stored', job);
    await storage.db.updateTable('jobs').set({ backup_to_record: 1 }).where('id', '=', job.id).execute();
    const other = await endedJob();
    clock.advance(11 * 60_000);
    await settled('stored', other);
    expect(await list()).toHaveLength(2);
    expect(await storage.db.selectFrom('jobs').select('id').where('backup_to_record', '=', 1).execute()).toEqual([]);
  });

  test('shows what its job changed', async () => {
    const job = await endedJob({
      binary: BINARY,
      export: EXPORT,
      export_after: EXPORT.replace('secret-name', 'new').replace('10:00', '10:01'),
    });
    await expect(service.changesOf(place.teamId, place.routerId, job.id)).rejects.toMatchObject({ code: 'conflict' });
    changes.publish(job);
    await settled('stored');
    const { diff } = await service.changesOf(place.teamId, place.routerId, job.id);
    expect(diff).toContain('-set name=secret-name\n+set name=new\n');
    expect(diff).not.toContain('10:01');
  });

  test('goes when it is old, and when its router has too many', async () => {
    const jobs: JobRecord[] = [];
    for (let count = 0; count < 5; count += 1) {
      clock.advance(1000);
      jobs.push(await endedJob());
      changes.publish(jobs.at(-1)!);
      await settled('stored', jobs.at(-1));
    }
    clock.advance(11 * 60_000);
    await waitUntil('the oldest are gone', async () => (await kept()).length === 3);
    const newest = jobs
      .slice(2)
      .reverse()
      .map(({ id }) => id);
    expect(await kept()).toEqual(newest);
    // Each sweep looks for jobs whose backup was never noted: these two are not among them.
    for (let sweep = 0; sweep < 3; sweep += 1) {
      await sweepAgain();
      expect(await kept()).toEqual(newest);
    }
    expect(await list()).toHaveLength(3);
    // Nor are they when the result of one comes once more.
    changes.publish(jobs[0]!);
    await sweepAgain();
    expect((await list()).map(({ record }) => record.job_id)).toEqual(newest);
    const shown = await storage.db.selectFrom('jobs').select('backup_id').where('id', '=', jobs[0]!.id).executeTakeFirst();
    expect(shown).toEqual({ backup_id: null });
    clock.advance(rules.keepMs);
    // The next sweep counts from the end of the one before, which may still be under way.
    await waitUntil('all are gone, also those of the neighbours', async () => {
      clock.advance(11 * 60_000);
      return (await storage.db.selectFrom('backups').select('id').execute()).length === 0;
    });
    expect(await storage.db.selectFrom('backup_parts').select('part').execute()).toEqual([]);
  });

  test('stay after the one whose files are being deleted when the control plane stops', async () => {
    const old = Array.from({ length: 30 }, (_, index) => `old ${index}`);
    const own = { team_id: place.teamId, router_id: place.routerId, job_id: null, wanted: null, due_at: null, error: null, attempts: 0 };
    const times = { created_at: clock.now() - rules.keepMs - 1, stored_at: 1 };
    const part = { team_id: place.teamId, part: 'export', size: 1, sha256: '', content: '', stored_at: 1 };
    const backups = old.map((id) => ({ id, ...own, ...times, state: 'stored' }));
    await storage.db.insertInto('backups').values(backups).execute();
    const parts = old.map((id) => ({ backup_id: id, ...part }));
    await storage.db.insertInto('backup_parts').values(parts).execute();
    await service.stop();
    const left = async (): Promise<number> => (await storage.db.selectFrom('backup_parts').select('part').execute()).length;
    let stopped: Promise<void> | undefined;
    const write: Storage['writes']['write'] = async (work) => {
      const result = await storage.writes.write(work);
      if ((await left()) < old.length) stopped ??= service.stop();
      return result;
    };
    service = await create(rules, new Counters(), { ...storage, writes: { ...storage.writes, write } });
    service.start();
    await waitUntil('it stops', async () => {
      clock.advance(11 * 60_000);
      return stopped !== undefined;
    });
    await stopped;
    expect(await left()).toBeGreaterThan(old.length - 3);
    expect(await storage.db.selectFrom('backups').select('id').execute()).toHaveLength(old.length);
  });
});
