import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AgentError } from '../../../agent/core/errors.ts';
import { Journal } from '../../../agent/jobs/journal/journal.ts';
import { JobRunner } from '../../../agent/jobs/runner.ts';
import type { ApiCommand, CommandReply, Deadline } from '../../../agent/routers/adapter.ts';
import type { JobOffer, JobResult } from '../../../protocol/index.ts';
import { MemoryDisk } from '../../harness/jobs/memory-disk.ts';
import { Mortal, MortalClock, MortalDisk } from '../../harness/jobs/process.ts';
import { Chance, turns } from '../../harness/jobs/random.ts';
import { ScriptedAdapter, ScriptedRouter } from '../../harness/jobs/scripted-router.ts';
import { ManualClock } from '../../harness/manual-clock.ts';
import { silentLog } from '../../harness/silent-log.ts';

/**
 * Guards that were armed for a script that then did not run. The agent removes them as soon as the router is reachable, so that no
 * router reboots for a job that never ran.
 */

type OnPrepare = (run: () => Promise<CommandReply>, deadline: Deadline) => Promise<CommandReply>;

/** Lets a test step in when the script is stored: the guard is armed then, and BEGIN not yet written. */
class WatchedAdapter extends ScriptedAdapter {
  readonly paths: string[] = [];
  onPrepare: OnPrepare | undefined;

  override command(command: ApiCommand, deadline: Deadline): Promise<CommandReply> {
    this.paths.push(command.path);
    const run = (): Promise<CommandReply> => super.command(command, deadline);
    const isPrepare = command.words.some((word) => word.includes(':onerror'));
    return isPrepare && this.onPrepare ? this.onPrepare(run, deadline) : run();
  }
}

describe('an undo guard whose script did not run', () => {
  let clock: ManualClock;
  let disk: MemoryDisk;
  let router: ScriptedRouter;
  let adapter: WatchedAdapter;
  let agent: Mortal;
  let runner: JobRunner;
  let sent: string[];
  let results: JobResult[];
  let isAlive: boolean;

  beforeEach(async () => {
    clock = new ManualClock();
    disk = new MemoryDisk();
    router = new ScriptedRouter('S1', clock, new Chance(1));
    sent = [];
    results = [];
    isAlive = true;
    await start();
  });

  afterEach(() => runner.stop());

  async function start(): Promise<void> {
    agent = new Mortal();
    adapter = new WatchedAdapter('r1', router, agent);
    runner = new JobRunner({
      journal: await Journal.open(new MortalDisk(disk, agent)),
      routers: new Map([['r1', adapter]]),
      send: (message) => {
        sent.push(message.type);
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
    router.breakSessions();
  }

  const offer: JobOffer = {
    type: 'job.offer',
    job_id: randomUUID(),
    router: 'r1',
    hardware_id: 'S1',
    script: 'run 1000 ok',
    make_backup: true,
    needs_acknowledgement: true,
    timeout_ms: 60_000,
    undo_unless_reachable_seconds: 30,
  };

  async function pass(ms: number): Promise<void> {
    for (let rest = ms; rest > 0; rest -= 500) {
      await turns(20);
      clock.advance(Math.min(rest, 500));
    }
    await turns(20);
  }

  async function givePermission(): Promise<void> {
    await runner.onOffer(offer);
    await runner.onGo(offer.job_id);
  }

  /** Up to the moment between arming and BEGIN, at which whatever is under way hangs. */
  async function armOnly(): Promise<void> {
    const reached = new AbortController();
    adapter.onPrepare = (_run, deadline) => {
      reached.abort();
      return router.operation(agent, deadline, () => new Promise<never>(() => undefined));
    };
    await givePermission();
    for (let waited = 0; !reached.signal.aborted && waited < 40; waited += 1) await pass(500);
    expect(router.scheduler.entries.size).toBe(1);
  }

  it('is removed after a short outage of the router, even while the control plane is silent', async () => {
    adapter.onPrepare = () => {
      router.reachable = false;
      return Promise.reject(new AgentError('rejected', 'no space left'));
    };
    await givePermission();
    await pass(12_000);
    expect(sent).toContain('job.ended');
    expect(router.scheduler.entries.size).toBe(1);
    router.reachable = true;
    await pass(5000);
    expect(router.scheduler.entries.size).toBe(0);
    expect(router.files.size, 'the backup and its export stay').toBe(2);
    await pass(120_000);
    expect(router.reboots).toBe(0);
  });

  it('is reported when the router is unreachable until it may fire', async () => {
    adapter.onPrepare = () => {
      router.reachable = false;
      return Promise.reject(new AgentError('router_unreachable', 'the router closed the connection'));
    };
    await givePermission();
    for (let waited = 0; results.length === 0 && waited < 100; waited += 1) await pass(10_000);
    expect(results).toMatchObject([
      { outcome: 'failed', reason: 'timed_out', error: expect.stringContaining('the undo guard may still restore') as string },
    ]);
    expect(router.runs).toEqual([]);
  });

  it('is reported when it has fired before it could be removed', async () => {
    let isBack = false;
    adapter.onPrepare = () => {
      router.reachable = isBack;
      return Promise.reject(new AgentError(isBack ? 'rejected' : 'router_unreachable', 'no space left'));
    };
    await givePermission();
    for (let waited = 0; router.reboots === 0 && waited < 100; waited += 1) await pass(1000);
    isBack = true;
    router.reachable = true;
    for (let waited = 0; results.length === 0 && waited < 100; waited += 1) await pass(1000);
    expect(router.runs).toEqual([]);
    const error = expect.stringContaining('the undo guard has restored') as string;
    expect(results).toMatchObject([{ outcome: 'failed', reason: 'rolled_back', error }]);
  });

  it('is removed by a stopping agent', async () => {
    await armOnly();
    await runner.stop();
    expect(router.scheduler.entries.size).toBe(0);
    expect([...router.files.keys()].filter((name) => name.includes('undo'))).toEqual([]);
  });

  it('does not delay the stop of an agent whose router is unreachable', async () => {
    await armOnly();
    router.reachable = false;
    await Promise.all([runner.stop(), pass(20_000)]);
    expect(router.scheduler.entries.size).toBe(1);
  });

  it('is removed after a restart of the agent, before anything else', async () => {
    await armOnly();
    kill();
    router.reachable = false;
    await start();
    // Permission is repeated at once: a backup takes minutes, and the guard must not fire in the middle of it.
    await runner.onGo(offer.job_id);
    await pass(2000);
    router.reachable = true;
    await pass(10_000);
    const at = (path: string): number => adapter.paths.indexOf(path);
    expect(at('/system/scheduler/remove')).toBeGreaterThan(-1);
    expect(at('/system/scheduler/remove')).toBeLessThan(at('/system/backup/save'));
    await pass(60_000);
    expect(router.runs).toMatchObject([{ jobId: offer.job_id, outcome: 'done', undone: false }]);
    expect(router.reboots).toBe(0);
  });

  it('is removed after a restart of the agent without permission to run', async () => {
    await armOnly();
    kill();
    await start();
    await pass(60_000);
    expect(router.scheduler.entries.size).toBe(0);
    expect(router.reboots).toBe(0);
  });

  it('is removed even if the router is unreachable several times', async () => {
    await armOnly();
    kill();
    router.reachable = false;
    await start();
    await pass(20_000);
    router.reachable = true;
    // The pauses between attempts are short against the guard's time.
    await pass(5000);
    expect(router.scheduler.entries.size).toBe(0);
  });

  it('does not prevent its job from running after a reboot of the router', async () => {
    await armOnly();
    kill();
    router.reboot();
    await start();
    await runner.onGo(offer.job_id);
    await pass(30_000);
    expect(router.runs).toMatchObject([{ jobId: offer.job_id, outcome: 'done', undone: false }]);
    expect(results).toMatchObject([{ outcome: 'completed' }]);
  });

  it('is not reported to have undone a script that may never have run', async () => {
    await armOnly();
    kill();
    await pass(60_000);
    expect(router.reboots, 'the agent stayed away, and the router could not know').toBe(1);
    await start();
    await runner.onGo(offer.job_id);
    await pass(30_000);
    expect(router.runs).toEqual([]);
    expect(results).toMatchObject([{ outcome: 'unknown', reason: 'interrupted', error: 'the script was undone or never ran' }]);
  });

  it.each<[string, () => void]>([
    ['another guard appears', () => router.scheduler.add('signalbox-undo-other', '5s', '>= 90d00:00:00')],
    ['its restore point goes', () => router.files.clear()],
  ])('refuses the job when %s while it is armed', async (_what, meanwhile) => {
    await runner.onOffer({ ...offer, make_backup: false });
    await runner.onGo(offer.job_id);
    const isArmed = (): boolean => router.scheduler.entries.has(`signalbox-undo-${offer.job_id}`);
    for (let waited = 0; !isArmed() && waited < 40; waited += 1) await pass(500);
    meanwhile();
    await pass(10_000);
    expect(sent).toContain('job.ended');
    expect(router.runs).toEqual([]);
    expect(isArmed()).toBe(false);
  });

  it('is found by an agent whose disk was restored to a state before it was armed', async () => {
    await runner.onOffer(offer);
    const image = Buffer.from(disk.content!);
    await armOnly();
    kill();
    disk.content = image;
    await start();
    await pass(5000);
    expect(router.scheduler.entries.size).toBe(0);
  });

  it('still undoes the script when it had run before the disk was restored', async () => {
    await runner.onOffer(offer);
    const image = Buffer.from(disk.content!);
    isAlive = false;
    await runner.onGo(offer.job_id);
    await pass(12_000);
    expect(router.runs).toHaveLength(1);
    kill();
    disk.content = image;
    await start();
    await pass(10_000);
    expect(router.scheduler.entries.size, 'the control plane cannot be reached').toBe(1);
    await pass(60_000);
    expect(router.runs).toMatchObject([{ undone: true }]);
  });

  it('of an unknown job delays the next job, which never begins after its time', async () => {
    isAlive = false;
    router.scheduler.add(`signalbox-undo-${randomUUID()}`, '5s', '>= 90d00:00:00');
    await runner.stop();
    await start();
    await givePermission();
    await pass(400_000);
    expect(results).toMatchObject([{ outcome: 'failed', reason: 'timed_out' }]);
    isAlive = true;
    await pass(120_000);
    expect(router.scheduler.entries.size).toBe(0);
    expect(router.runs).toEqual([]);
  });
});
