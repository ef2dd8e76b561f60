import { beforeEach, expect, test } from 'vitest';
import type { JobResult } from '../../protocol/index.ts';
import { newId } from '../../server/platform/core/ids.ts';
import { expireJobs, giveUpUnlisted, giveUpOverdue } from '../../server/work/jobs/hand-over/store.ts';
import type { Reporter } from '../../server/work/jobs/hand-over/store.ts';
import { insertMissedEvents } from '../../server/work/jobs/outbox/store.ts';
import { cancelQueued, deleteFinished, requestCancel } from '../../server/work/jobs/store.ts';
import type { JobInsert } from '../../server/work/jobs/intake/store.ts';
import type { JobRecord } from '../../server/work/jobs/types.ts';
import type { Storage, Tx } from '../../server/platform/storage/db.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { insertJob } from '../harness/jobs/insert-job.ts';
import { acceptJob, beginJob, endJob, refuseJob } from '../harness/jobs/transitions.ts';
import { seedRouter } from '../harness/seed.ts';
import type { SeededRouter } from '../harness/seed.ts';

const NOW = 1_700_000_000_000;
const completed: JobResult = { outcome: 'completed', reason: null, error: null, output: 'secret words', output_truncated: false };
const failed: JobResult = { outcome: 'failed', reason: 'script_error', error: 'secret words', output: null, output_truncated: false };
const unknown: JobResult = { outcome: 'unknown', reason: 'interrupted', error: null, output: null, output_truncated: false };

interface Told {
  type: string;
  timestamp: string;
  data: Record<string, unknown>;
}

describeEachDatabase('the outbox of a job with a notify_url', (open) => {
  let storage: Storage;
  let seeded: SeededRouter;
  let reporter: Reporter;

  beforeEach(async () => {
    storage = await open();
    seeded = await seedRouter(storage);
    reporter = { teamId: seeded.teamId, agentId: seeded.agentId, epoch: 0 };
  });

  const write = <T>(work: (tx: Tx) => Promise<T>): Promise<T> => storage.writes.write(work);

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
      script: ':put "a secret"',
      expressExecute: false,
      needsAcknowledgement: true,
      makeBackup: false,
      notifyUrl: 'https://Hooks.example.com:8443/jobs?x=1',
      timeoutMs: 300_000,
      now: NOW,
      expiresAt: NOW + 1000,
      ...changes,
    };
    return write((tx) => insertJob(tx, job));
  }

  /** A step of a job's life, by its name. */
  const steps: Record<string, (job: JobRecord) => Promise<unknown>> = {
    accept: (job) => write((tx) => acceptJob(tx, reporter, { jobId: job.id, now: NOW + 1, graceMs: 10, backupMs: 0 })),
    begin: (job) => write((tx) => beginJob(tx, reporter, { jobId: job.id, now: NOW + 2, graceMs: 10 })),
    complete: (job) => write((tx) => endJob(tx, reporter, { jobId: job.id, result: completed, now: NOW + 3 })),
    fail: (job) => write((tx) => endJob(tx, reporter, { jobId: job.id, result: failed, now: NOW + 3 })),
    wonder: (job) => write((tx) => endJob(tx, reporter, { jobId: job.id, result: unknown, now: NOW + 3 })),
    forget: (job) => write((tx) => giveUpUnlisted(tx, reporter, [job.id], NOW + 3)),
    'give up': () => write((tx) => giveUpOverdue(tx, NOW + 3_600_000, 10)),
    expire: () => write((tx) => expireJobs(tx, NOW + 1000, 10)),
    cancel: (job) => write((tx) => cancelQueued(tx, { teamId: job.team_id, jobId: job.id, now: NOW + 4 })),
    'ask back': (job) => write((tx) => requestCancel(tx, { teamId: job.team_id, jobId: job.id, now: NOW + 4 })),
    refuse: (job) => write((tx) => refuseJob(tx, reporter, { jobId: job.id, now: NOW + 4 })),
    delete: (job) => write((tx) => deleteFinished(tx, { teamId: job.team_id, jobId: job.id, now: NOW + 5 })),
  };

  async function told(job: JobRecord): Promise<Told[]> {
    const rows = await storage.db.selectFrom('job_events').select('body').where('job_id', '=', job.id).orderBy('seq').execute();
    return rows.map((row) => JSON.parse(row.body) as Told);
  }

  const LIVES: [string, string, boolean?][] = [
    ['', 'loaded'],
    ['accept', 'loaded'],
    ['accept begin complete', 'loaded running completed'],
    ['accept begin fail delete', 'loaded running failed deleted'],
    ['complete', 'loaded completed'],
    ['cancel', 'loaded deleted'],
    ['accept refuse', 'loaded failed'],
    ['accept ask-back refuse', 'loaded deleted'],
    ['expire', 'loaded expired'],
    ['expire complete', 'loaded expired completed'],
    ['cancel complete', 'loaded deleted completed'],
    ['accept give-up', 'loaded unknown'],
    ['accept begin give-up complete', 'loaded running unknown completed'],
    ['accept begin wonder give-up', 'loaded running unknown'],
    ['accept begin give-up wonder', 'loaded running unknown'],
    // Without acknowledgement it is completed at the receipt, whatever comes of it.
    ['accept', 'loaded completed', false],
    ['accept begin fail', 'loaded completed', false],
    ['accept begin give-up delete', 'loaded completed deleted', false],
  ];

  test.each(LIVES)('after "%s" it holds the events %s', async (life, types, needsAcknowledgement = true) => {
    const job = await create({ needsAcknowledgement });
    for (const step of life.split(' ').filter(Boolean)) await steps[step.replace('-', ' ')]!(job);
    const events = await told(job);
    expect(events.map((event) => event.type.replace('job.', '')).join(' ')).toBe(types);
    const seqs = events.map((event) => Number(event.data['seq_id']));
    expect(seqs).toEqual([...new Set(seqs)].sort((a, b) => a - b));
  });

  test('an event holds the state of the job at that time, without its script, output and error', async () => {
    const job = await create();
    for (const step of ['accept', 'begin', 'fail']) await steps[step]!(job);
    const [loaded, running, last] = await told(job);
    expect(loaded).toMatchObject({
      type: 'job.loaded',
      timestamp: new Date(NOW).toISOString(),
      data: { status: 'pending', seq_id: 1, started_at: null },
    });
    expect(running).toMatchObject({
      type: 'job.running',
      data: { status: 'running', seq_id: 3, started_at: new Date(NOW + 2).toISOString(), failed_at: null },
    });
    expect(last).toEqual({
      type: 'job.failed',
      timestamp: new Date(NOW + 3).toISOString(),
      data: {
        id: job.id,
        seq_id: 4,
        status: 'failed',
        phase: 'done',
        reason: 'script_error',
        token: 't',
        idempotency_key: 'k',
        request_id: 'r',
        router_id: seeded.routerId,
        site_id: null,
        description: 'd',
        express_execute: false,
        needs_acknowledgement: true,
        make_backup: false,
        created_at: new Date(NOW).toISOString(),
        started_at: new Date(NOW + 2).toISOString(),
        completed_at: null,
        failed_at: new Date(NOW + 3).toISOString(),
        deleted_at: null,
      },
    });
    expect(JSON.stringify(last)).not.toContain('secret');
  });

  test('a transition that is rolled back leaves no event', async () => {
    const job = await create();
    const undone = write(async (tx) => {
      await acceptJob(tx, reporter, { jobId: job.id, now: NOW, graceMs: 10, backupMs: 0 });
      await beginJob(tx, reporter, { jobId: job.id, now: NOW, graceMs: 10 });
      throw new Error('the disk is full');
    });
    await expect(undone).rejects.toThrow();
    expect(await told(job)).toHaveLength(1);
  });

  test('an event is due no earlier than the pending event before it', async () => {
    const job = await create();
    await storage.db
      .updateTable('job_events')
      .set({ due_at: NOW + 300_000 })
      .where('job_id', '=', job.id)
      .execute();
    await steps['cancel']!(job);
    const rows = await storage.db.selectFrom('job_events').select(['due_at', 'origin']).where('job_id', '=', job.id).execute();
    const waiting = { due_at: NOW + 300_000, origin: 'https://hooks.example.com:8443' };
    expect(rows).toEqual([waiting, waiting]);
  });

  test('a transition that was stored without an event gets its event later', async () => {
    const [job, silent] = [await create(), await create({ notifyUrl: null })];
    for (const { id } of [job, silent]) {
      await storage.db.updateTable('jobs').set({ phase: 'running', started_at: NOW, version: 5 }).where('id', '=', id).execute();
    }
    expect(await write((tx) => insertMissedEvents(tx, NOW + 9, 10))).toBe(1);
    expect(await write((tx) => insertMissedEvents(tx, NOW + 9, 10))).toBe(0);
    expect((await told(job)).map((event) => [event.type, event.data['seq_id']])).toEqual([
      ['job.loaded', 1],
      ['job.running', 5],
    ]);
    expect(await told(silent)).toEqual([]);
  });

  test('a job without a notify_url leaves no events', async () => {
    const job = await create({ notifyUrl: null });
    for (const step of ['accept', 'begin', 'complete']) await steps[step]!(job);
    expect(await told(job)).toEqual([]);
  });
});
