import { beforeEach, expect, test } from 'vitest';
import type { JobResult } from '../../protocol/index.ts';
import { upsertStates } from '../../server/fleet/states/store.ts';
import { newId } from '../../server/platform/core/ids.ts';
import type { Storage, Tx } from '../../server/platform/storage/db.ts';
import { expireJobs, giveUpUnlisted, noteGuard } from '../../server/work/jobs/hand-over/store.ts';
import { cancelQueuedOf } from '../../server/work/jobs/router-removal/store.ts';
import { guardOf } from '../../server/work/jobs/guard.ts';
import { deleteFinished, requestCancel, selectJob } from '../../server/work/jobs/store.ts';
import type { JobInsert } from '../../server/work/jobs/intake/store.ts';
import { JobTimelines } from '../../server/work/jobs/timeline/timelines.ts';
import type { JobRecord } from '../../server/work/jobs/types.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { insertJob } from '../harness/jobs/insert-job.ts';
import { acceptJob, beginJob, endJob, refuseJob } from '../harness/jobs/transitions.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { plansOf } from '../harness/plans.ts';
import { seedRouter } from '../harness/seed.ts';
import type { SeededRouter } from '../harness/seed.ts';
import { selectCampaignOf, selectSituations } from '../../server/work/jobs/timeline/store.ts';

const NOW = 1_700_000_000_000;
const KEY = '01a1fb90-22bb-7d2c-9f0e-3a1c5e7b9d24';
const completed: JobResult = { outcome: 'completed', reason: null, error: null, output: 'ok', output_truncated: false };

describeEachDatabase('the timeline of a job', (open) => {
  let storage: Storage;
  let place: SeededRouter;
  let clock: ManualClock;
  let timelines: JobTimelines;

  beforeEach(async () => {
    storage = await open();
    place = await seedRouter(storage, { now: NOW });
    clock = new ManualClock(NOW);
    timelines = new JobTimelines({ storage, clock, states: { history: { stored: () => Promise.resolve() } } });
    await storage.db.updateTable('agents').set({ epoch: 7 }).where('id', '=', place.agentId).execute();
    const key = { id: KEY, team_id: place.teamId, name: 'deploy', secret_hash: 'h', role: 'operator', created_at: NOW };
    await storage.db.insertInto('api_keys').values(key).execute();
  });

  const write = <T>(work: (tx: Tx) => Promise<T>): Promise<T> => storage.writes.write(work);
  const reporter = () => ({ teamId: place.teamId, agentId: place.agentId, epoch: 7 });
  const caller = () => ({ teamId: place.teamId, now: clock.now(), by: { type: 'caller', id: KEY } as const });

  function create(changes: Partial<JobInsert> = {}): Promise<JobRecord> {
    const job: JobInsert = {
      id: newId(NOW),
      teamId: place.teamId,
      routerId: place.routerId,
      siteId: null,
      token: 't',
      requestId: 'r',
      idempotencyKey: newId(NOW),
      description: 'd',
      script: ':put 1',
      expressExecute: false,
      needsAcknowledgement: true,
      makeBackup: false,
      notifyUrl: null,
      timeoutMs: 300_000,
      createdBy: KEY,
      now: clock.now(),
      expiresAt: clock.now() + 3_600_000,
      ...changes,
    };
    return write((tx) => insertJob(tx, job));
  }

  const accept = ({ id }: JobRecord) =>
    write((tx) => acceptJob(tx, reporter(), { jobId: id, now: clock.now(), graceMs: 60_000, backupMs: 0 }));
  const begin = ({ id }: JobRecord) => write((tx) => beginJob(tx, reporter(), { jobId: id, now: clock.now(), graceMs: 60_000 }));
  const end = ({ id }: JobRecord, result = completed) => write((tx) => endJob(tx, reporter(), { jobId: id, result, now: clock.now() }));

  /** The router was in these states one after the other, from the start; seconds and reason. */
  async function states(...spans: [state: string, from: number, to: number | null, reason?: string][]): Promise<void> {
    const rows = spans.map(([state, since, until, reason = null]) => ({
      id: newId(NOW),
      team_id: place.teamId,
      router_id: place.routerId,
      state,
      reason,
      since: NOW + since * 1000,
      until: until === null ? null : NOW + until * 1000,
    }));
    await write((tx) => upsertStates(tx, rows));
  }

  /** Seconds from the start. */
  async function shown({ id }: JobRecord, named = true): Promise<unknown[]> {
    const job = await selectJob(storage.db, place.teamId, place.routerId, id);
    const items = await timelines.of(job!, named);
    const seconds = (at: number | null) => (at === null ? null : (at - NOW) / 1000);
    return items.map(({ kind, at, until, phase, epoch, by, reason, waitsFor }) =>
      kind === 'waiting'
        ? [kind, seconds(at), seconds(until), waitsFor, reason]
        : [kind, seconds(at), phase, by && (by.name ?? by.type), epoch, reason],
    );
  }

  test('has every transition with its moment, epoch and cause, and what the job waited for', async () => {
    await states(['agent_away', -60, null, 'left']);
    clock.advance(10_000);
    const job = await create();
    clock.advance(5000);
    expect(await shown(job)).toEqual([
      ['created', 10, 'queued', 'deploy', null, null],
      ['waiting', 10, null, 'agent', 'left'],
    ]);
    await storage.db.deleteFrom('router_state_changes').execute();
    await states(['answering', -60, 20], ['agent_away', 20, 50, 'silence'], ['not_answering', 50, 60, 'timeout'], ['answering', 60, null]);
    clock.advance(50_000);
    await accept(job);
    clock.advance(1000);
    await begin(job);
    clock.advance(4000);
    await end(job);
    await end(job);
    clock.advance(1000);
    await write((tx) => deleteFinished(tx, { ...caller(), jobId: job.id }));
    expect(await shown(job)).toEqual([
      ['created', 10, 'queued', 'deploy', null, null],
      ['waiting', 10, 20, 'turn', null],
      ['waiting', 20, 50, 'agent', 'silence'],
      ['waiting', 50, 60, 'router', 'timeout'],
      ['waiting', 60, 65, 'turn', null],
      ['accepted', 65, 'accepted', `agent ${place.agentId}`, 7, null],
      ['began', 66, 'running', `agent ${place.agentId}`, 7, null],
      ['ended', 70, 'done', `agent ${place.agentId}`, 7, null],
      ['deleted', 71, null, 'deploy', null, null],
    ]);
  });

  test('names nobody to callers who may not read the audit log', async () => {
    const job = await create();
    await accept(job);
    expect(await shown(job, false)).toEqual([
      ['created', 0, 'queued', 'unknown', null, null],
      ['accepted', 0, 'accepted', 'agent', 7, null],
    ]);
  });

  test('tells a cancellation that was asked for twice once, and who gave the job back', async () => {
    const job = await create();
    await accept(job);
    await write((tx) => requestCancel(tx, { ...caller(), jobId: job.id }));
    await write((tx) => requestCancel(tx, { ...caller(), jobId: job.id }));
    await write((tx) => refuseJob(tx, reporter(), { jobId: job.id, now: clock.now() }));
    expect((await shown(job)).slice(1)).toEqual([
      ['accepted', 0, 'accepted', `agent ${place.agentId}`, 7, null],
      ['cancel_requested', 0, null, 'deploy', null, null],
      ['canceled', 0, 'canceled', `agent ${place.agentId}`, 7, null],
    ]);
  });

  test('has what the control plane did by itself, and a late result behind it', async () => {
    const [late, lost, withdrawn] = [await create(), await create(), await create()];
    await accept(lost);
    await write((tx) => giveUpUnlisted(tx, reporter(), [lost.id], clock.now()));
    await end(lost);
    expect((await shown(lost)).slice(2)).toEqual([
      ['gave_up', 0, 'unknown', 'control_plane', null, 'agent_forgot'],
      ['ended', 0, 'done', `agent ${place.agentId}`, 7, null],
    ]);
    await write((tx) => cancelQueuedOf(tx, { ...place, now: clock.now() }, { reason: 'router_removed', error: 'gone' }));
    expect((await shown(withdrawn)).at(-1)).toEqual(['canceled', 0, 'canceled', 'control_plane', null, 'router_removed']);
    expect((await shown(late)).at(-1)).toEqual(['canceled', 0, 'canceled', 'control_plane', null, 'router_removed']);
    const expiring = await create();
    clock.advance(3_600_000);
    await write((tx) => expireJobs(tx, clock.now(), 500));
    expect((await shown(expiring)).slice(1)).toEqual([
      ['waiting', 0, 3600, 'unknown', null],
      ['expired', 3600, 'expired', 'control_plane', null, null],
    ]);
  });

  test('keeps its order when the clock is set back', async () => {
    const job = await create();
    clock.step(-7_200_000);
    await accept(job);
    await begin(job);
    clock.advance(5000);
    await end(job);
    expect((await shown(job)).map((item) => (item as unknown[]).slice(0, 2))).toEqual([
      ['created', 0],
      ['accepted', -7200],
      ['began', -7200],
      ['ended', -7195],
    ]);
  });

  test('of a job from before the notes is made of its moments', async () => {
    const job = await create();
    await accept(job);
    clock.advance(1000);
    await begin(job);
    clock.advance(1000);
    await end(job, { ...completed, outcome: 'failed', reason: 'script_error' });
    const noted = await shown(job);
    await storage.db.updateTable('jobs').set({ transitions: null }).where('id', '=', job.id).execute();
    expect(await shown(job)).toEqual(noted);
  });

  test('is bounded, however often an agent contradicts itself', async () => {
    const job = await create();
    await accept(job);
    for (let report = 0; report < 200; report += 1) {
      const reason = report % 2 === 0 ? ('interrupted' as const) : ('timed_out' as const);
      await end(job, { ...completed, outcome: 'unknown', reason });
    }
    const { transitions } = (await selectJob(storage.db, place.teamId, place.routerId, job.id))!;
    expect(transitions!.length).toBeLessThan(4100);
    expect((await shown(job)).length).toBeGreaterThan(40);
  });

  test('has its undo guard, once for each change, and only from the agent that holds the job', async () => {
    const guard = async (state: 'armed' | 'disarmed', agentId = place.agentId) =>
      write((tx) =>
        noteGuard(tx, { ...reporter(), agentId }, { jobId: job.id, state, firesInMs: state === 'armed' ? 60_000 : null, now: clock.now() }),
      );
    const job = await create({ undoSeconds: 60 });
    const view = async () => guardOf((await selectJob(storage.db, place.teamId, place.routerId, job.id))!, clock.now());
    await accept(job);
    expect(await view()).toBeNull();
    expect(await guard('armed', (await seedRouter(storage)).agentId)).toBeUndefined();
    expect(await guard('armed')).toBeDefined();
    clock.advance(10_000);
    expect(await guard('armed')).toBeUndefined();
    expect(await view()).toEqual({ state: 'armed', armedAt: NOW, firesInSeconds: 50 });
    clock.advance(50_000);
    expect(await view()).toEqual({ state: 'unknown', armedAt: NOW, firesInSeconds: null });
    await begin(job);
    expect(await guard('disarmed')).toBeDefined();
    expect(await view()).toEqual({ state: 'disarmed', armedAt: NOW, firesInSeconds: null });
    await end(job);
    expect(await guard('armed')).toBeUndefined();
    expect((await shown(job)).map((item) => (item as unknown[])[0])).toEqual([
      'created',
      'accepted',
      'guard_armed',
      'began',
      'guard_disarmed',
      'ended',
    ]);
  });

  test.each([
    ['rolled back', { ...completed, outcome: 'failed', reason: 'rolled_back' }, 'fired'],
    ['completed', completed, 'disarmed'],
    ['unknown', { ...completed, outcome: 'unknown', reason: 'interrupted' }, 'unknown'],
  ] as const)('of an agent that says nothing of guards: a job that is %s', async (_name, result, state) => {
    const [guarded, other] = [await create({ undoSeconds: 60 }), await create()];
    for (const job of [guarded, other]) {
      await accept(job);
      await begin(job);
    }
    const view = async ({ id }: JobRecord) => guardOf((await selectJob(storage.db, place.teamId, place.routerId, id))!, clock.now());
    expect(await view(guarded)).toMatchObject({ state: 'unknown', armedAt: null });
    for (const job of [guarded, other]) await end(job, result);
    expect(await view(guarded)).toMatchObject({ state });
    expect(await view(other)).toBeNull();
  });

  test('is found by indexes that name the router or the job', async () => {
    const { teamId, routerId } = place;
    const plans = [
      ...(await plansOf(storage, (db) => selectSituations(db, { teamId, routerId, from: NOW, to: NOW + 1 }))),
      ...(await plansOf(storage, (db) => selectCampaignOf(db, teamId, KEY))),
    ];
    expect(plans).toHaveLength(2);
    for (const plan of plans) for (const { condition } of plan.reads) expect(condition, plan.text).toMatch(/router_id|job_id/);
  });
});
