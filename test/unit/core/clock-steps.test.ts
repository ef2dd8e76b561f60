import { expect, test } from 'vitest';
import { ClockSteps } from '../../../server/core/clock-steps.ts';
import { ManualClock } from '../../harness/manual-clock.ts';

const HOUR = 3_600_000;

test.each([-24 * HOUR, -2 * HOUR, -1000, 1000, 2 * HOUR, 24 * HOUR])('a step of the wall clock by %d ms is told once', (ms) => {
  const clock = new ManualClock();
  const steps = new ClockSteps(clock);
  clock.advance(30_000);
  expect(steps.take()).toBe(0);
  clock.step(ms);
  clock.advance(30_000);
  expect([steps.take(), steps.take()]).toEqual([ms, 0]);
});

test('what NTP slews is no step, also when it adds up', () => {
  const clock = new ManualClock();
  const steps = new ClockSteps(clock);
  for (let second = 0; second < 100; second += 1) {
    clock.step(15);
    expect(steps.take()).toBe(0);
  }
});
