import { expect, test } from 'vitest';
import { Liveness } from '../../../protocol/index.ts';
import { ManualClock } from '../../harness/manual-clock.ts';

function setUp(random = 1) {
  const clock = new ManualClock();
  const link = { bytes: 0, paused: false, pings: 0, deaths: 0 };
  const liveness = new Liveness({
    timers: clock,
    random: () => random,
    periodMs: 25_000,
    bytesRead: () => link.bytes,
    paused: () => link.paused,
    ping: () => (link.pings += 1),
    onDead: () => (link.deaths += 1),
  });
  return { clock, link, liveness };
}

test('one byte in every other period is enough', () => {
  const { clock, link } = setUp();
  for (let i = 0; i < 10; i += 1) {
    clock.advance(25_000);
    link.bytes += 1;
    clock.advance(25_000);
  }
  expect(link).toMatchObject({ deaths: 0, pings: 20 });
});

test('two silent periods end the link, and it stops then', () => {
  const { clock, link } = setUp();
  link.bytes = 10;
  clock.advance(25_000);
  clock.advance(25_000);
  expect(link.deaths).toBe(0);
  clock.advance(25_000);
  expect(link.deaths).toBe(1);
  expect(clock.pending).toBe(0);
});

test('while this side does not read, silence proves nothing', () => {
  const { clock, link } = setUp();
  link.paused = true;
  clock.advance(250_000);
  expect(link.deaths).toBe(0);
});

test('jitter spreads the checks over the last fifth of the period', () => {
  expect(
    [0, 0.5].map((random) => {
      const { clock, link } = setUp(random);
      clock.advance(20_000);
      return link.pings;
    }),
  ).toEqual([1, 0]);
});

test('does nothing after stop', () => {
  const { clock, link, liveness } = setUp();
  liveness.stop();
  clock.advance(1_000_000);
  expect(link).toMatchObject({ pings: 0, deaths: 0 });
});
