import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Journal } from '../../../agent/jobs/journal/journal.ts';
import { JobRunner } from '../../../agent/jobs/runner.ts';
import type { JobOffer, JobResult } from '../../../protocol/index.ts';
import { MemoryDisk } from '../../harness/jobs/memory-disk.ts';
import { Mortal, MortalClock, MortalDisk } from '../../harness/jobs/process.ts';
import { Chance, turns } from '../../harness/jobs/random.ts';
import { ScriptedAdapter, ScriptedRouter } from '../../harness/jobs/scripted-router.ts';
import { ManualClock } from '../../harness/manual-clock.ts';
import { silentLog } from '../../harness/silent-log.ts';

/**
 * A guarded script ran, and the journal does not know its guard's time: the agent's disk was restored to an earlier attempt to arm. Only
 * the entry on the router has the true time.
 */

const ALLOWED_SECONDS = 30;
const TICK_SECONDS = 5;
/** Long enough to see the router answer while it loads. */
const LOAD_SECONDS = 20;

describe('a guard whose record is older than the guard', () => {
  let clock: ManualClock;
  let disk: MemoryDisk;
  /** Of the first attempt to arm. */
  let image: Buffer;
  let router: ScriptedRouter;
  let agent: Mortal;
  let runner: JobRunner;
  let results: JobResult[];
  let isAlive: boolean;

  const offer: JobOffer = {
    type: 'job.offer',
    job_id: randomUUID(),
    router: 'r1',
    hardware_id: 'S1',
    script: 'run 1000 ok',
    make_backup: false,
    needs_acknowledgement: true,
    timeout_ms: 60_000,
    undo_unless_reachable_seconds: ALLOWED_SECONDS,
  };
  const entryName = `signalbox-undo-${offer.job_id}`;

  async function start(): Promise<void> {
    agent = new Mortal();
    runner = new JobRunner({
      journal: await Journal.open(new MortalDisk(disk, agent)),
      routers: new Map([['r1', new ScriptedAdapter('r1', router, agent)]]),
      send: (message) => {
        if (message.type === 'job.ended') results.push(message.result);
      },
      isAlive: () => Promise.resolve(isAlive),
      clock: new MortalClock(clock, agent),
      log: silentLog,
    });
    runner.start();
  }

  function kill(): void {
    agent.dead = true;
    router.dropSessions();
  }

  async function pass(ms: number): Promise<void> {
    for (let rest = ms; rest > 0; rest -= 500) {
      await turns(20);
      clock.advance(Math.min(rest, 500));
    }
    await turns(20);
  }

  async function until(what: string, condition: () => boolean): Promise<void> {
    for (let waited = 0; waited < 400; waited += 1) {
      if (condition()) return;
      await pass(500);
    }
    throw new Error(`never: ${what}`);
  }

  /** The router reboots, too: from then on its entry counts from the boot. */
  function restoreDisk(): void {
    kill();
    router.reboot();
    disk.content = image;
  }

  /** With the restored disk; the control plane answers and repeats its permission. */
  async function returnOfAgent(): Promise<void> {
    isAlive = true;
    await start();
    await runner.onGo(offer.job_id);
  }

  const uptime = (): number => router.facts().uptimeSeconds!;

  beforeEach(async () => {
    clock = new ManualClock();
    disk = new MemoryDisk();
    router = new ScriptedRouter('S1', clock, new Chance(1));
    router.loadMs = LOAD_SECONDS * 1000;
    results = [];
    isAlive = false;
    router.reboot();
    await pass(25_000);
    await start();
    await runner.onOffer(offer);
    await runner.onGo(offer.job_id);
    await until('the guard is armed', () => router.scheduler.entries.has(entryName));
    image = Buffer.from(disk.content!);
    // This attempt is interrupted. A second one, much later by the router's uptime, runs the script.
    kill();
    router.scheduler.clear();
    await pass(300_000);
    await start();
    await runner.onGo(offer.job_id);
    await until('the script has run', () => router.runs[0]?.outcome === 'done');
  });

  afterEach(() => runner.stop());

  it('is not reported as removed while the router already loads the restore point', async () => {
    restoreDisk();
    const end = ALLOWED_SECONDS + TICK_SECONDS;
    await until('the load has begun', () => uptime() > end + 2 * TICK_SECONDS);
    await returnOfAgent();
    await until('the agent reports', () => results.length > 0);
    await pass(LOAD_SECONDS * 1000);
    expect(router.runs).toMatchObject([{ outcome: 'done', undone: true }]);
    expect(results[0]).toMatchObject({ outcome: 'failed', reason: 'rolled_back' });
  });

  it('is not reported as removed when only its entry has gone', async () => {
    restoreDisk();
    await until('the load has begun', () => uptime() > ALLOWED_SECONDS + 3 * TICK_SECONDS);
    router.scheduler.remove(entryName);
    await returnOfAgent();
    await until('the agent reports', () => results.length > 0);
    await pass(LOAD_SECONDS * 1000);
    expect(router.runs).toMatchObject([{ outcome: 'done', undone: true }]);
    expect(results[0]).toMatchObject({ outcome: 'failed', reason: 'rolled_back' });
  });

  it('is removed in time', async () => {
    restoreDisk();
    await returnOfAgent();
    await until('the agent reports', () => results.length > 0);
    await pass(120_000);
    expect(router.runs).toMatchObject([{ outcome: 'done', undone: false }]);
    expect(results[0]).toMatchObject({ outcome: 'completed' });
    expect(router.reboots).toBe(2);
  });

  it('stays removed when its entry had gone long before', async () => {
    restoreDisk();
    router.scheduler.remove(entryName);
    await pass(10_000);
    await returnOfAgent();
    await until('the agent reports', () => results.length > 0);
    expect(router.runs).toMatchObject([{ outcome: 'done', undone: false }]);
    expect(results[0]).toMatchObject({ outcome: 'completed' });
  });

  it('is unknown when its entry was changed', async () => {
    router.scheduler.entries.get(entryName)!.source = ':if ($uptime >= 90d00:00:00) do={}';
    isAlive = true;
    await pass(30 * 60_000);
    expect(results[0]).toMatchObject({ outcome: 'unknown', reason: 'interrupted' });
  });
});
