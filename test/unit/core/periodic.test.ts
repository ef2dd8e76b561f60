import { expect, test } from 'vitest';
import { Periodic } from '../../../server/platform/core/periodic.ts';
import type { PeriodicOptions } from '../../../server/platform/core/periodic.ts';
import { ManualClock } from '../../harness/manual-clock.ts';
import { RecordedLog } from '../../harness/recorded-log.ts';
import { settle } from '../../harness/tunnel-bench.ts';

function setUp(run: PeriodicOptions['run'], more: Partial<PeriodicOptions> = {}) {
  const [clock, log] = [new ManualClock(), new RecordedLog()];
  return { clock, log, periodic: new Periodic({ clock, log, everyMs: 1000, failure: 'it failed', run, ...more }) };
}

/** Runs that end when the test says so. */
function gatedRuns() {
  const gates: PromiseWithResolvers<void>[] = [];
  const run = (): Promise<void> => {
    const gate = Promise.withResolvers<void>();
    gates.push(gate);
    return gate.promise;
  };
  return { gates, run };
}

test('the first run comes after the period, not before', () => {
  let runs = 0;
  const { clock, periodic } = setUp(() => void (runs += 1));
  periodic.start();
  clock.advance(999);
  expect(runs).toBe(0);
  clock.advance(1);
  expect(runs).toBe(1);
  clock.advance(5000);
  expect(runs).toBe(6);
});

test('a run starts one period after the last one has ended: runs never overlap', async () => {
  const { gates, run } = gatedRuns();
  const { clock, periodic } = setUp(run);
  periodic.start();
  clock.advance(10_000);
  expect(gates).toHaveLength(1);
  gates[0]!.resolve();
  await settle();
  clock.advance(999);
  expect(gates).toHaveLength(1);
  clock.advance(1);
  expect(gates).toHaveLength(2);
});

test('stop aborts and awaits the current run, and no run follows', async () => {
  const { gates, run } = gatedRuns();
  let seen: AbortSignal | undefined;
  const { clock, periodic } = setUp((signal) => {
    seen = signal;
    return run();
  });
  periodic.start();
  clock.advance(1000);
  let stopped = false;
  const stopping = periodic.stop().then(() => (stopped = true));
  await settle();
  expect([stopped, seen?.aborted, periodic.isStopped]).toEqual([false, true, true]);
  gates[0]!.resolve();
  await stopping;
  await settle();
  expect(clock.pending).toBe(0);
});

test('stop between two runs leaves no timer, and a start afterwards none either', async () => {
  const { clock, periodic } = setUp(() => undefined);
  periodic.start();
  await periodic.stop();
  periodic.start();
  expect(clock.pending).toBe(0);
});

test('a second start has no effect', () => {
  const { clock, periodic } = setUp(() => undefined);
  periodic.start();
  periodic.start();
  expect(clock.pending).toBe(1);
});

test.each<[string, PeriodicOptions['run']]>([
  [
    'throws',
    () => {
      throw new Error('no');
    },
  ],
  ['rejects', () => Promise.reject(new Error('no'))],
])('a run that %s is told to the log, and the next one comes', async (_, run) => {
  let runs = 0;
  const { clock, log, periodic } = setUp(
    (signal) => {
      runs += 1;
      return run(signal);
    },
    { level: 'error' },
  );
  periodic.start();
  clock.advance(1000);
  await settle();
  clock.advance(1000);
  await settle();
  expect(runs).toBe(2);
  expect(log.lines.map(({ level, message }) => [level, message])).toEqual([
    ['error', 'it failed'],
    ['error', 'it failed'],
  ]);
  await periodic.stop();
});
