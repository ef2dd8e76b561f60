import { describe, expect, test } from 'vitest';
import { AdoptedClock } from '../../../server/platform/core/adopted-clock.ts';
import { turns } from '../../harness/jobs/random.ts';
import { ManualClock } from '../../harness/manual-clock.ts';
import { silentLog } from '../../harness/silent-log.ts';

const HOUR = 3_600_000;

describe('the clock that the control plane goes by', () => {
  test.each([-24 * HOUR, -2 * HOUR, -1000, 1000, 2 * HOUR, 24 * HOUR])('adopts a step by %d ms once plans have been moved', async (ms) => {
    const machine = new ManualClock();
    const clock = new AdoptedClock(machine);
    machine.advance(30_000);
    const before = machine.now();
    machine.step(ms);
    machine.advance(500);
    expect(clock.now()).toBe(before + 500);
    const moved: number[][] = [];
    const move = async (stepMs: number, now: number): Promise<void> => void moved.push([stepMs, now, clock.now()]);
    expect(await clock.adopt(move)).toBe(ms);
    expect(moved).toEqual([[ms, before + 500, before + 500]]);
    expect(clock.now()).toBe(machine.now());
    expect(await clock.adopt(move)).toBe(0);
    expect(moved).toHaveLength(1);
  });

  test('follows NTP slewing at once, also when it adds up', async () => {
    const machine = new ManualClock();
    const clock = new AdoptedClock(machine);
    for (let second = 0; second < 100; second += 1) {
      machine.step(15);
      expect(clock.now()).toBe(machine.now());
    }
    expect(await clock.adopt(() => Promise.reject(new Error('nothing was to be moved')))).toBe(0);
  });

  test('does not mistake a suspend for a step', async () => {
    const machine = new ManualClock();
    const clock = new AdoptedClock(machine, () => machine.sinceBoot());
    machine.suspend(2 * HOUR);
    expect(clock.now()).toBe(machine.now());
    expect(await clock.adopt(() => Promise.reject(new Error('nothing was to be moved')))).toBe(0);
  });

  test('tells a suspend from a step that came with it', async () => {
    const machine = new ManualClock();
    const clock = new AdoptedClock(machine, () => machine.sinceBoot());
    const before = machine.now();
    machine.suspend(2 * HOUR);
    machine.step(-HOUR);
    expect(clock.now()).toBe(before + 2 * HOUR);
    expect(await clock.adopt(async () => undefined)).toBe(-HOUR);
    expect(clock.now()).toBe(machine.now());
  });

  test('asks for the time since boot, which is slow, only when the clocks differ', () => {
    const machine = new ManualClock();
    let asked = 0;
    const clock = new AdoptedClock(machine, () => {
      asked += 1;
      return machine.sinceBoot();
    });
    for (let second = 0; second < 100; second += 1) {
      machine.advance(1000);
      expect(clock.now()).toBe(machine.now());
    }
    expect(asked).toBe(1);
    machine.suspend(HOUR);
    clock.now();
    expect(asked).toBe(2);
  });

  test('checks periodically, and keeps the old time until a shift has succeeded', async () => {
    const machine = new ManualClock();
    const clock = new AdoptedClock(machine);
    const before = machine.now();
    let isAway = true;
    const moved: number[] = [];
    clock.follow(async (stepMs) => {
      moved.push(stepMs);
      if (isAway) throw new Error('the database is away');
    }, silentLog);
    machine.step(2 * HOUR);
    machine.advance(1000);
    await turns(5);
    machine.advance(1000);
    await turns(5);
    expect([moved, clock.now()]).toEqual([[2 * HOUR, 2 * HOUR], before + 2000]);
    isAway = false;
    machine.advance(1000);
    await turns(5);
    expect([moved.length, clock.now()]).toEqual([3, machine.now()]);
    machine.advance(5000);
    await turns(5);
    expect(moved).toHaveLength(3);
    await clock.stop();
    expect(machine.pending).toBe(0);
  });
});
