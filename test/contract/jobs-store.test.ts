import { beforeEach, expect, it } from 'vitest';
import type { JobResult } from '../../protocol/index.ts';
import { newId } from '../../server/platform/core/ids.ts';
import { selectNextJobs, selectWaitingRouters } from '../../server/work/jobs/dispatch/store.ts';
import { expireJobs, giveUpUnlisted, giveUpOverdue, selectHeldBefore } from '../../server/work/jobs/hand-over/store.ts';
import type { Reporter } from '../../server/work/jobs/hand-over/store.ts';
import { statusOf } from '../../server/work/jobs/state.ts';
import { selectJobsByKeys } from '../../server/work/jobs/intake/store.ts';
import { cancelQueued, deleteFinished, requestCancel, selectJob, selectJobs } from '../../server/work/jobs/store.ts';
import type { JobInsert } from '../../server/work/jobs/intake/store.ts';
import type { JobRecord } from '../../server/work/jobs/types.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { insertJob } from '../harness/jobs/insert-job.ts';
import { acceptJob, beginJob, endJob, refuseJob } from '../harness/jobs/transitions.ts';
import { seedAgent, seedRouter } from '../harness/seed.ts';
import type { SeededRouter } from '../harness/seed.ts';

const NOW = 1_700_000_000_000;
const GRACE = { graceMs: 60_000, backupMs: 30_000 };

const completed: JobResult = { outcome: 'completed', reason: null, error: null, output: 'ok', output_truncated: false };
const failed: JobResult = { outcome: 'failed', reason: 'script_error', error: 'no', output: null, output_truncated: false };
const unknown: JobResult = { outcome: 'unknown', reason: 'interrupted', error: 'cut', output: null, output_truncated: false };

describeEachDatabase('job transitions', (open) => {
  let storage: Storage;
  let seeded: SeededRouter;
  let reporter: Reporter;

  beforeEach(async () => {
    storage = await open();
    seeded = await seedRouter(storage);
    reporter = { teamId: seeded.teamId, agentId: seeded.agentId, epoch: 5 };
    await setEpoch(seeded.agentId, 5);
  });

  async function setEpoch(agentId: string, epoch: number): Promise<void> {
    await storage.db.updateTable('agents').set({ epoch }).where('id', '=', agentId).execute();
  }

  function create(changes: Partial<JobInsert> = {}): Promise<JobRecord> {
    const job: JobInsert = {
      id: newId(NOW),
      teamId: seeded.teamId,
      routerId: seeded.routerId,
      siteId: null,
      token: 't',
      requestId: 'r',
      idempotencyKey: 'k',
      description: 'd',
      script: ':put 1',
      expressExecute: false,
      needsAcknowledgement: true,
      makeBackup: false,
      notifyUrl: null,
      timeoutMs: 300_000,
      now: NOW,
      expiresAt: NOW + 1000,
      ...changes,
    };
    return storage.writes.write((tx) => insertJob(tx, job));
  }

  const write = <T>(work: (tx: Parameters<typeof insertJob>[0]) => Promise<T>): Promise<T> => storage.writes.write(work);
  const accept = (job: JobRecord, by = reporter, now = NOW) => write((tx) => acceptJob(tx, by, { jobId: job.id, now, ...GRACE }));
  const begin = (job: JobRecord, by = reporter) => write((tx) => beginJob(tx, by, { jobId: job.id, now: NOW + 10, graceMs: 60_000 }));
  const end = (job: JobRecord, result = completed, by = reporter) =>
    write((tx) => endJob(tx, by, { jobId: job.id, result, now: NOW + 20 }));
  const refuse = (job: JobRecord) => write((tx) => refuseJob(tx, reporter, { jobId: job.id, now: NOW + 5 }));
  const read = (job: JobRecord) => selectJob(storage.db, seeded.teamId, seeded.routerId, job.id);
  const own = (job: JobRecord) => ({ teamId: seeded.teamId, jobId: job.id, now: NOW + 7 });

  it('go from queued to completed and raise the version each time', async () => {
    const job = await create();
    expect(job).toMatchObject({ phase: 'queued', version: 1, notified_version: 0, completed_at: null });
    expect(await accept(job)).toMatchObject({
      phase: 'accepted',
      version: 2,
      agent_id: seeded.agentId,
      epoch: 5,
      accepted_at: NOW,
      overdue_at: NOW + 360_000,
    });
    expect(await begin(job)).toMatchObject({ phase: 'running', version: 3, started_at: NOW + 10, overdue_at: NOW + 10 + 360_000 });
    expect(await end(job)).toMatchObject({
      phase: 'done',
      version: 4,
      completed_at: NOW + 20,
      failed_at: null,
      overdue_at: null,
      output: 'ok',
    });
  });

  it('allow a longer silence while a backup is taken', async () => {
    expect(await accept(await create({ makeBackup: true }))).toMatchObject({ overdue_at: NOW + 390_000 });
  });

  it('give permission to run exactly once, however often the agent asks', async () => {
    const job = await create();
    const answers = await Promise.all([accept(job), accept(job), accept(job)]);
    expect(answers.filter((answer) => answer !== undefined)).toHaveLength(1);
  });

  it('give no permission after the job has expired', async () => {
    const job = await create();
    expect(await accept(job, reporter, NOW + 1000)).toBeUndefined();
    expect(await read(job)).toMatchObject({ phase: 'queued', version: 1 });
  });

  it('give no permission to an older tunnel', async () => {
    const job = await create();
    await setEpoch(seeded.agentId, 6);
    expect(await accept(job)).toBeUndefined();
  });

  it('give no permission to an agent that the router is not assigned to', async () => {
    const job = await create();
    const stranger = { ...reporter, agentId: await seedAgent(storage, seeded.teamId) };
    await setEpoch(stranger.agentId, 5);
    expect(await accept(job, stranger)).toBeUndefined();
    expect(await begin(job, stranger)).toBeUndefined();
    expect(await end(job, completed, stranger)).toBeUndefined();
  });

  it('ignore reports of another team', async () => {
    const job = await create();
    const other = await seedRouter(storage);
    await setEpoch(other.agentId, 5);
    const stranger = { teamId: other.teamId, agentId: other.agentId, epoch: 5 };
    expect(await accept(job, stranger)).toBeUndefined();
    expect(await end(job, completed, stranger)).toBeUndefined();
    expect(await selectJob(storage.db, other.teamId, seeded.routerId, job.id)).toBeUndefined();
    expect(await write((tx) => cancelQueued(tx, { ...own(job), teamId: other.teamId }))).toBeUndefined();
  });

  it('complete a job without acknowledgement when its agent accepts it, and keep it completed', async () => {
    const job = await create({ needsAcknowledgement: false });
    const accepted = await accept(job);
    expect(accepted).toMatchObject({ phase: 'accepted', completed_at: NOW });
    const ended = await end(job, failed);
    expect(ended).toMatchObject({ phase: 'done', reason: 'script_error', error: 'no', completed_at: NOW, failed_at: null });
    expect([accepted, ended].map((state) => statusOf(state!))).toEqual(['completed', 'completed']);
  });

  it('store a result once: the first one counts', async () => {
    const job = await create();
    await accept(job);
    expect(await end(job, failed)).toMatchObject({ phase: 'done', failed_at: NOW + 20, version: 3 });
    expect(await end(job, completed)).toBeUndefined();
    expect(await read(job)).toMatchObject({ phase: 'done', reason: 'script_error', version: 3 });
  });

  it('believe a result from an older tunnel, because it is a fact', async () => {
    const job = await create();
    await accept(job);
    await setEpoch(seeded.agentId, 9);
    expect(await end(job)).toMatchObject({ phase: 'done' });
  });

  it('correct unknown by a late result, and store a repeated unknown once', async () => {
    const job = await create();
    await accept(job);
    expect(await end(job, unknown)).toMatchObject({ phase: 'unknown', reason: 'interrupted', failed_at: NOW + 20, version: 3 });
    expect(await end(job, unknown)).toBeUndefined();
    expect(await end(job)).toMatchObject({ phase: 'done', reason: null, error: null, failed_at: null, completed_at: NOW + 20, version: 4 });
  });

  it('believe an agent that ran a job which the restored database still has as queued', async () => {
    const job = await create();
    expect(await end(job)).toMatchObject({ phase: 'done', agent_id: seeded.agentId });
  });

  it('do not show a job as deleted that ran although it had been canceled', async () => {
    const job = await create();
    await write((tx) => cancelQueued(tx, own(job)));
    expect(await end(job)).toMatchObject({ phase: 'done', deleted_at: null });
  });

  it('clean output that a database cannot store unchanged', async () => {
    const job = await create();
    await accept(job);
    expect(await end(job, { ...completed, output: 'a\0b\ud800' })).toMatchObject({ output: 'a\uFFFDb\uFFFD' });
  });

  it('cancel a queued job, which then gets no permission', async () => {
    const job = await create();
    expect(await write((tx) => cancelQueued(tx, own(job)))).toMatchObject({ phase: 'canceled', deleted_at: NOW + 7, version: 2 });
    expect(await accept(job)).toBeUndefined();
  });

  it('cancel an accepted job when its agent gives it back', async () => {
    const job = await create({ needsAcknowledgement: false });
    await accept(job);
    expect(await write((tx) => requestCancel(tx, own(job)))).toMatchObject({ phase: 'accepted', reason: 'cancel_requested', version: 2 });
    expect(await refuse(job)).toMatchObject({ phase: 'canceled', deleted_at: NOW + 5, completed_at: null, reason: null, version: 3 });
    expect(await refuse(job)).toBeUndefined();
  });

  it('drop the request to cancel once the script has begun', async () => {
    const job = await create();
    await accept(job);
    await write((tx) => requestCancel(tx, own(job)));
    expect(await begin(job)).toMatchObject({ phase: 'running', reason: null });
    expect(await refuse(job)).toBeUndefined();
    expect(await write((tx) => requestCancel(tx, own(job)))).toBeUndefined();
  });

  it('fail a job that its agent refuses unasked', async () => {
    const job = await create();
    await accept(job);
    expect(await refuse(job)).toMatchObject({ phase: 'done', reason: 'rejected', failed_at: NOW + 5, deleted_at: null });
  });

  it('do not conclude from a refusal that an unknown job never ran', async () => {
    const job = await create();
    await accept(job);
    await setEpoch(seeded.agentId, 6);
    await write((tx) => giveUpUnlisted(tx, { ...reporter, epoch: 6 }, [job.id], NOW));
    expect(await refuse(job)).toBeUndefined();
  });

  it('set to unknown what an agent accepted on earlier tunnels and no longer lists', async () => {
    const [old, fresh] = [await create(), await create()];
    await accept(old);
    await setEpoch(seeded.agentId, 6);
    const now = { ...reporter, epoch: 6 };
    await accept(fresh, now);
    expect(await selectHeldBefore(storage.db, [now, reporter])).toEqual([[old.id], []]);
    const forgotten = await write((tx) => giveUpUnlisted(tx, now, [old.id], NOW + 9));
    expect(forgotten).toMatchObject([{ id: old.id, phase: 'unknown', reason: 'agent_forgot', failed_at: NOW + 9, overdue_at: null }]);
  });

  it('draw no conclusion from the list of an older tunnel', async () => {
    const job = await create();
    await accept(job);
    await setEpoch(seeded.agentId, 7);
    expect(await write((tx) => giveUpUnlisted(tx, { ...reporter, epoch: 6 }, [job.id], NOW))).toEqual([]);
    expect(await read(job)).toMatchObject({ phase: 'accepted' });
  });

  it('expire only queued jobs', async () => {
    const [waiting, taken, later] = [await create(), await create(), await create({ expiresAt: NOW + 99_000 })];
    await accept(taken);
    const expired = await write((tx) => expireJobs(tx, NOW + 1000, 10));
    expect(expired).toMatchObject([{ id: waiting.id, phase: 'expired', failed_at: NOW + 1000, version: 2 }]);
    expect(await read(taken)).toMatchObject({ phase: 'accepted' });
    expect(await read(later)).toMatchObject({ phase: 'queued' });
  });

  it('stop waiting for silent agents after the timeout of the script and the grace', async () => {
    const [accepted, running] = [await create(), await create({ needsAcknowledgement: false })];
    await accept(accepted);
    await accept(running);
    await begin(running);
    expect(await write((tx) => giveUpOverdue(tx, NOW + 359_999, 10))).toEqual([]);
    expect(await write((tx) => giveUpOverdue(tx, NOW + 360_000, 10))).toMatchObject([
      { id: accepted.id, phase: 'unknown', reason: 'timed_out', failed_at: NOW + 360_000 },
    ]);
    const [silent] = await write((tx) => giveUpOverdue(tx, NOW + 400_000, 10));
    // Completed at the receipt: nobody was promised more.
    expect(silent).toMatchObject({ id: running.id, phase: 'unknown', completed_at: NOW, failed_at: null });
  });

  it('mark a finished job as deleted once', async () => {
    const job = await create();
    expect(await write((tx) => deleteFinished(tx, own(job)))).toBeUndefined();
    await end(job);
    expect(await write((tx) => deleteFinished(tx, own(job)))).toMatchObject({ phase: 'done', deleted_at: NOW + 7, version: 3 });
    expect(await write((tx) => deleteFinished(tx, own(job)))).toBeUndefined();
  });

  it('find the job of a repeated key, of this team and router only', async () => {
    const job = await create({ idempotencyKey: 'mine' });
    const key = { teamId: seeded.teamId, routerId: seeded.routerId, idempotencyKey: 'mine', since: NOW };
    expect(await selectJobsByKeys(storage.db, [key])).toEqual([job]);
    expect(await selectJobsByKeys(storage.db, [{ ...key, since: NOW + 1 }])).toEqual([undefined]);
    expect(await selectJobsByKeys(storage.db, [{ ...key, teamId: (await seedRouter(storage)).teamId }])).toEqual([undefined]);
  });

  it('list newest first, by page and by status', async () => {
    const jobs = [await create({ now: NOW - 2 }), await create({ now: NOW - 1 }), await create(), await create()];
    await end(jobs[1]!, failed);
    const list = async (statuses: Parameters<typeof selectJobs>[1]['statuses'], limit = 10, before?: JobRecord) => {
      const page = { limit, before: before && { at: before.created_at, id: before.id } };
      const rows = await selectJobs(storage.db, { teamId: seeded.teamId, routerId: seeded.routerId, statuses, page });
      return rows.map((row) => jobs.findIndex((job) => job.id === row.id));
    };
    expect(await list([])).toEqual([3, 2, 1, 0]);
    expect(await list([], 2)).toEqual([3, 2]);
    expect(await list([], 2, jobs[2])).toEqual([1, 0]);
    expect(await list(['failed'])).toEqual([1]);
    expect(await list(['pending', 'failed'], 2, jobs[3])).toEqual([2, 1]);
  });

  it('offer express jobs first, then in order of creation, one at a time', async () => {
    const jobs = [await create(), await create(), await create({ expressExecute: true })];
    const query = { routerId: seeded.routerId, agentId: seeded.agentId, expressOnly: false };
    const next = async (expressOnly = false): Promise<number> => {
      const [job] = await selectNextJobs(storage.db, [{ ...query, expressOnly }], NOW);
      return jobs.findIndex(({ id }) => id === job?.offer.job_id);
    };
    const waiting = () => selectWaitingRouters(storage.db, [seeded.agentId], NOW);
    expect(await waiting()).toMatchObject([{ routerId: seeded.routerId, agentId: seeded.agentId, express: true }]);
    expect(await next()).toBe(2);
    await accept(jobs[2]!);
    expect(await next()).toBe(-1);
    expect(await waiting()).toEqual([]);
    await end(jobs[2]!);
    expect(await waiting()).toMatchObject([{ express: false }]);
    expect(await next(true)).toBe(-1);
    expect(await next()).toBe(0);
    await end(jobs[0]!);
    expect(await next()).toBe(1);
    expect((await selectNextJobs(storage.db, [query], NOW))[0]?.offer).toEqual({
      type: 'job.offer',
      job_id: jobs[1]!.id,
      router: `router ${seeded.routerId}`,
      hardware_id: `serial ${seeded.routerId}`,
      script: ':put 1',
      make_backup: false,
      needs_acknowledgement: true,
      timeout_ms: 300_000,
    });
    expect(await selectNextJobs(storage.db, [query], NOW + 1000)).toEqual([undefined]);
  });

  it('offer many routers their next jobs by one statement, each by what it may get', async () => {
    const second = await seedRouter(storage, seeded);
    const third = await seedRouter(storage, seeded);
    const stranger = await seedRouter(storage);
    const of = ({ routerId, teamId }: SeededRouter, changes: Partial<JobInsert> = {}) => create({ routerId, teamId, ...changes });
    const plain = await of(seeded);
    await of(second);
    const [, urgent] = [await of(third), await of(third, { expressExecute: true })];
    await of(stranger);
    const query = ({ routerId, agentId }: SeededRouter, expressOnly = false) => ({ routerId, agentId, expressOnly });
    const queries = [query(seeded), query(second, true), query(third, true), query({ ...stranger, agentId: seeded.agentId })];
    const found = await selectNextJobs(storage.db, queries, NOW);
    expect(found.map((job) => job?.offer.job_id)).toEqual([plain.id, undefined, urgent.id, undefined]);
  });
});
