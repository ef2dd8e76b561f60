import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Journal } from '../../../agent/jobs/journal/journal.ts';
import { JobRunner } from '../../../agent/jobs/runner.ts';
import { scriptNameOf } from '../../../agent/jobs/run-marker.ts';
import type { JobOffer, JobResult } from '../../../protocol/index.ts';
import { MemoryDisk } from '../../harness/jobs/memory-disk.ts';
import { Mortal } from '../../harness/jobs/process.ts';
import { Chance, turns } from '../../harness/jobs/random.ts';
import { ScriptedAdapter, ScriptedRouter } from '../../harness/jobs/scripted-router.ts';
import { ManualClock } from '../../harness/manual-clock.ts';
import { RecordedLog } from '../../harness/recorded-log.ts';

/** The agent's side of the hand-over; the test plays the control plane. */

describe('the job runner', () => {
  let clock: ManualClock;
  let disk: MemoryDisk;
  let router: ScriptedRouter;
  let runner: JobRunner;
  let log: RecordedLog;
  let sent: string[];
  let results: JobResult[];

  beforeEach(async () => {
    clock = new ManualClock();
    disk = new MemoryDisk();
    router = new ScriptedRouter('S1', clock, new Chance(1));
    log = new RecordedLog();
    sent = [];
    results = [];
    await start();
  });

  afterEach(() => runner.stop());

  async function start(routers = ['r1']): Promise<void> {
    runner = new JobRunner({
      journal: await Journal.open(disk),
      routers: new Map(routers.map((name) => [name, new ScriptedAdapter(name, router, new Mortal())])),
      send: (message) => {
        if (message.type === 'job.ended') results.push(message.result);
        sent.push(`${message.type} ${'reason' in message ? message.reason : 'result' in message ? message.result.outcome : ''}`.trim());
      },
      isAlive: () => Promise.resolve(true),
      clock,
      log,
    });
    runner.start();
  }

  const offer = (changes: Partial<JobOffer> = {}): JobOffer => ({
    type: 'job.offer',
    job_id: randomUUID(),
    router: 'r1',
    hardware_id: 'S1',
    script: 'run 1000 ok',
    make_backup: false,
    needs_acknowledgement: true,
    timeout_ms: 60_000,
    ...changes,
  });

  /** The messages since the last call, after `ms` have passed. */
  async function said(ms = 0): Promise<string[]> {
    for (let rest = ms; rest > 0; rest -= 500) {
      await turns(20);
      clock.advance(Math.min(rest, 500));
    }
    await turns(40);
    return sent.splice(0);
  }

  it('accepts, runs on permission, reports, and forgets when acknowledged', async () => {
    const job = offer();
    await runner.onOffer(job);
    expect(await said()).toEqual(['job.accepted']);
    await runner.onGo(job.job_id);
    expect(await said(2000)).toEqual(['job.began', 'job.ended completed']);
    await runner.onAck(job.job_id);
    expect(await said()).toEqual([]);
    expect((await runner.adopt(1, false)).jobs).toEqual([]);
    expect(router.scripts.size).toBe(0);
    expect(router.runs).toMatchObject([{ jobId: job.job_id, outcome: 'done' }]);
  });

  it("does not log a router's outage, and waits for it with the clean-up", async () => {
    const job = offer();
    await runner.onOffer(job);
    await runner.onGo(job.job_id);
    await said(2000);
    router.reachable = false;
    await runner.onAck(job.job_id);
    await said(60_000);
    expect(log.take()).toEqual([]);
    router.reachable = true;
    await said(30_000);
    expect(router.scripts.size).toBe(0);
  });

  it('does nothing without permission', async () => {
    await runner.onOffer(offer());
    await said(50_000);
    expect(router.runs).toEqual([]);
  });

  it('runs once, even if permission comes several times', async () => {
    const job = offer();
    await runner.onOffer(job);
    await Promise.all([runner.onGo(job.job_id), runner.onGo(job.job_id)]);
    await said(2000);
    await runner.onGo(job.job_id);
    await runner.onAck(job.job_id);
    await said();
    await runner.onGo(job.job_id);
    await said(2000);
    expect(router.runs).toHaveLength(1);
  });

  it("answers a repeated offer with the job's state", async () => {
    const job = offer();
    await runner.onOffer(job);
    await runner.onOffer(job);
    expect(await said()).toEqual(['job.accepted', 'job.accepted']);
    await runner.onGo(job.job_id);
    await said(2000);
    await runner.onOffer(job);
    expect(await said()).toEqual(['job.ended completed']);
    await runner.onAck(job.job_id);
    await said();
    // Long forgotten, but still not run again.
    await runner.onOffer(job);
    expect(await said()).toEqual(['job.ended completed']);
  });

  it.each<[string, Partial<JobOffer>]>([
    ['unknown_router', { router: 'other' }],
    ['wrong_router', { hardware_id: 'S2' }],
  ])('declines with %s', async (reason, changes) => {
    await runner.onOffer(offer(changes));
    expect(await said()).toEqual([`job.declined ${reason}`]);
  });

  it('declines while its router is unreachable, busy or its disk is full', async () => {
    router.reachable = false;
    await runner.onOffer(offer());
    router.reachable = true;
    disk.full = true;
    await runner.onOffer(offer());
    disk.full = false;
    await runner.onOffer(offer());
    await runner.onOffer(offer());
    expect(await said()).toEqual(['job.declined router_unreachable', 'job.declined disk', 'job.accepted', 'job.declined busy']);
  });

  it('refuses a revoked job that has not begun, and never runs it', async () => {
    const job = offer();
    await runner.onOffer(job);
    await runner.onRevoke(job.job_id);
    await runner.onGo(job.job_id);
    expect(await said(5000)).toEqual(['job.accepted', 'job.refused']);
    expect(router.runs).toEqual([]);
  });

  it('does not refuse a revoked job that has begun', async () => {
    const job = offer();
    await runner.onOffer(job);
    await runner.onGo(job.job_id);
    await said();
    await runner.onRevoke(job.job_id);
    expect(await said(2000)).toEqual(['job.began', 'job.ended completed']);
  });

  it('repeats unanswered messages after a while', async () => {
    const job = offer();
    await runner.onOffer(job);
    await said();
    disk.full = true;
    await runner.onRevoke(job.job_id);
    disk.full = false;
    expect(await said(59_000)).toEqual([]);
    expect(await said(62_000)).toEqual(['job.accepted']);
    await runner.onRevoke(job.job_id);
    expect(await said()).toEqual(['job.refused']);
    expect(await said(125_000)).toEqual(['job.refused']);
  });

  it('reports a result only after it is on disk, also if the disk was full', async () => {
    const job = offer();
    await runner.onOffer(job);
    await runner.onGo(job.job_id);
    await said();
    disk.full = true;
    expect(await said(5000)).toEqual([]);
    disk.full = false;
    expect(await said(20_000)).toEqual(['job.ended completed']);
  });

  it('finds out after a restart how a begun job ended, without running it again', async () => {
    const job = offer();
    await runner.onOffer(job);
    await runner.onGo(job.job_id);
    await said();
    await runner.stop();
    await start();
    expect((await runner.adopt(2, false)).jobs).toEqual([{ job_id: job.job_id, state: 'begun' }]);
    expect(await said(10_000)).toEqual(['job.ended completed']);
    expect(router.runs).toHaveLength(1);
  });

  it('ends a begun job as unknown when its router was removed from the configuration', async () => {
    const job = offer();
    await runner.onOffer(job);
    await runner.onGo(job.job_id);
    await said();
    await runner.stop();
    await start([]);
    expect(await said()).toEqual(['job.ended unknown']);
  });

  it('drops all jobs when the control plane no longer trusts its journal', async () => {
    const job = offer();
    await runner.onOffer(job);
    const before = runner.journalId;
    const { journalId, jobs } = await runner.adopt(3, true);
    expect(jobs).toEqual([]);
    expect(journalId).not.toBe(before);
    expect(runner).toMatchObject({ journalId, lastEpoch: 3 });
  });

  it('waits for its router to come back before it reports how a job ended', async () => {
    const job = offer();
    await runner.onOffer(job);
    await runner.onGo(job.job_id);
    expect(await said()).toEqual(['job.accepted', 'job.began']);
    router.reachable = false;
    router.reboot();
    expect(await said(60_000)).toEqual([]);
    router.reachable = true;
    expect(await said(40_000)).toEqual(['job.ended unknown']);
  });

  it('does not begin hours after its permission if the router was unreachable all the time', async () => {
    const job = offer();
    await runner.onOffer(job);
    await runner.stop();
    router.reachable = false;
    await start();
    await runner.onGo(job.job_id);
    expect(await said(115_000)).toEqual(['job.accepted']);
    expect(await said(45_000)).toEqual(['job.ended failed']);
    router.reachable = true;
    expect(await said(120_000)).toEqual(['job.ended failed']);
    expect(router.runs).toEqual([]);
  });

  it('begins when the router comes back in time', async () => {
    const job = offer();
    await runner.onOffer(job);
    await runner.stop();
    router.reachable = false;
    await start();
    await runner.onGo(job.job_id);
    await said(60_000);
    router.reachable = true;
    expect(await said(30_000)).toEqual(['job.began', 'job.ended completed']);
  });

  it('refuses a job when its backup does not appear', async () => {
    const job = offer({ make_backup: true });
    await runner.onOffer(job);
    const save = router.files.set.bind(router.files);
    router.files.set = (name) => save(name, 0);
    await runner.onGo(job.job_id);
    expect(await said(200_000)).toContain('job.ended failed');
    expect(router.runs).toEqual([]);
  });

  describe('on a machine whose clock is set while a script runs', () => {
    const YEAR = 365 * 24 * 3_600_000;

    /** The script runs, and its session is lost. */
    async function begin(script: string): Promise<JobOffer> {
      const job = offer({ script });
      await runner.onOffer(job);
      await runner.onGo(job.job_id);
      expect(await said(1000)).toEqual(['job.accepted', 'job.began']);
      router.dropSessions();
      return job;
    }

    it('does not stop it before its time', async () => {
      await begin('run 20000 ok');
      clock.step(YEAR);
      expect(await said(30_000)).toEqual(['job.ended completed']);
    });

    it('stops it in its time', async () => {
      await begin('run 90000 ok');
      clock.step(-YEAR);
      await said(70_000);
      expect(results).toMatchObject([{ outcome: 'failed', reason: 'timed_out' }]);
    });

    it('does not take it for a reboot of the router', async () => {
      const job = await begin('run 20000 ok');
      clock.step(YEAR);
      router.command({ path: '/system/script/job/remove', words: [`=.id=${scriptNameOf(job.job_id)}`] });
      await said(30_000);
      expect(results).toMatchObject([{ outcome: 'unknown', reason: 'interrupted' }]);
    });

    it.each([YEAR, -YEAR])('handles it correctly after a restart of the agent (%i ms)', async (ms) => {
      await begin('run 50000 ok');
      await said(10_000);
      await runner.stop();
      await start();
      await said(5000);
      clock.step(ms);
      expect(await said(45_000)).toEqual(['job.ended completed']);
    });

    it('gives a permitted job its time', async () => {
      const job = offer();
      await runner.onOffer(job);
      await runner.stop();
      router.reachable = false;
      await start();
      await runner.onGo(job.job_id);
      await said(20_000);
      clock.step(YEAR);
      router.reachable = true;
      expect(await said(30_000)).toEqual(['job.began', 'job.ended completed']);
    });
  });
});
