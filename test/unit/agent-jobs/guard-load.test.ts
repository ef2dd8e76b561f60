import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AgentError } from '../../../agent/core/errors.ts';
import { MemoryDisk } from '../../harness/jobs/memory-disk.ts';
import { GuardedAgent, guardedOffer } from '../../harness/jobs/guarded-agent.ts';

/**
 * A router that loads its restore point still answers for a while, and removing the guard's entry does not stop the load. What runs
 * meanwhile is undone, so nothing may run, and nothing may be reported as completed.
 */

const ALLOWED_SECONDS = 30;
/** Longer than a job with a guard needs from `go` to its result. */
const LOAD_SECONDS = 25;

describe('a router that already loads the restore point of a guard', () => {
  let agent: GuardedAgent;
  const offer = guardedOffer(ALLOWED_SECONDS);
  const next = { ...guardedOffer(ALLOWED_SECONDS), undo_unless_reachable_seconds: undefined };

  beforeEach(async () => {
    agent = new GuardedAgent();
    agent.router.loadMs = LOAD_SECONDS * 1000;
    await agent.start();
  });

  afterEach(() => agent.runner.stop());

  /** The agent dies with the guard armed, and the router begins to load; the entry is still there. */
  async function loadBegins(): Promise<void> {
    await agent.armOnly(offer);
    const end = agent.uptime + ALLOWED_SECONDS;
    agent.kill();
    await agent.until('the load has begun', () => agent.uptime >= end + 10);
    expect([agent.router.scheduler.entries.size, agent.router.reboots]).toEqual([1, 0]);
  }

  /** Long after every load. */
  async function expectNothingFalse(): Promise<void> {
    await agent.pass(200_000);
    expect(agent.router.reboots).toBe(1);
    for (const { jobId, undone } of agent.router.runs) if (undone) expect(agent.results.get(jobId)?.outcome).not.toBe('completed');
  }

  it('does not run the job of this guard', async () => {
    await loadBegins();
    await agent.start();
    await agent.runner.onGo(offer.job_id);
    await expectNothingFalse();
    expect(agent.router.runs.filter(({ undone }) => undone)).toEqual([]);
    expect(agent.results.has(offer.job_id)).toBe(true);
  });

  it('does not run the job when permission comes after the agent has looked at the guard', async () => {
    await loadBegins();
    await agent.start();
    await agent.pass(5000);
    await agent.runner.onGo(offer.job_id);
    await expectNothingFalse();
    expect(agent.router.runs.filter(({ undone }) => undone)).toEqual([]);
    expect(agent.results.has(offer.job_id)).toBe(true);
  });

  it('does not run the job when the load begins before a slow removal', async () => {
    await agent.armOnly(offer);
    const end = agent.uptime + ALLOWED_SECONDS;
    agent.kill();
    await agent.until('the time is nearly over', () => agent.uptime >= end - 5);
    await agent.start();
    agent.adapter.onCommand = async ({ path }, run) => {
      if (path !== '/system/scheduler/remove') return run();
      agent.adapter.onCommand = undefined;
      await new Promise<void>((resolve) => agent.clock.setTimeout(resolve, 15_000));
      return run();
    };
    await agent.runner.onGo(offer.job_id);
    await expectNothingFalse();
    expect(agent.router.runs.filter(({ undone }) => undone)).toEqual([]);
    expect(agent.results.has(offer.job_id)).toBe(true);
  });

  it('is not taken for one that is disarmed when its answer about the entry comes late', async () => {
    agent.isAlive = false;
    // The uptime was read before the load, and the entry is looked for after it.
    agent.adapter.onCommand = async ({ path }, run) => {
      const isNearEnd = agent.router.runs.length === 1 && agent.uptime >= ALLOWED_SECONDS - 2;
      if (path !== '/system/scheduler/print' || !isNearEnd) return run();
      agent.adapter.onCommand = undefined;
      while (agent.router.reboots === 0) await new Promise<void>((resolve) => agent.clock.setTimeout(resolve, 500));
      return run();
    };
    await agent.run(offer);
    await expectNothingFalse();
    expect(agent.adapter.onCommand).toBeUndefined();
    expect(agent.results.get(offer.job_id)).toMatchObject({ outcome: 'failed', reason: 'rolled_back' });
  });

  it('does not run the next job when this one was canceled', async () => {
    await loadBegins();
    await agent.start();
    await agent.runner.onRevoke(offer.job_id);
    await agent.runner.onAck(offer.job_id);
    // Declined as long as the guard reserves the router.
    for (let attempts = 0; attempts < 60; attempts += 1) {
      await agent.run(next);
      await agent.pass(1000);
    }
    await expectNothingFalse();
    expect(agent.router.runs).toMatchObject([{ jobId: next.job_id, outcome: 'done', undone: false }]);
  });

  it('does not run the next job after a wiped journal', async () => {
    await loadBegins();
    agent.disk.content = new MemoryDisk().content;
    await agent.start();
    await agent.run(next);
    await expectNothingFalse();
    expect(agent.router.runs).toMatchObject([{ jobId: next.job_id, outcome: 'done', undone: false }]);
  });

  it('does not run the next job after a wiped journal when the answer to the removal is lost', async () => {
    await loadBegins();
    agent.disk.content = new MemoryDisk().content;
    await agent.start();
    agent.adapter.onCommand = async ({ path }, run) => {
      const reply = await run();
      if (path !== '/system/scheduler/remove') return reply;
      agent.adapter.onCommand = undefined;
      throw new AgentError('outcome_unknown', 'the connection broke');
    };
    await agent.run(next);
    await expectNothingFalse();
    expect(agent.router.runs).toMatchObject([{ jobId: next.job_id, outcome: 'done', undone: false }]);
  });
});
