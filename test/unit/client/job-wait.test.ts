import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ProblemError } from '../../../client/index.ts';
import type { Job, StreamEvent } from '../../../client/index.ts';
import { waitForJob } from '../../../client/job-wait.ts';
import type { WaitDeps } from '../../../client/job-wait.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Reads that see one state after the other, the last one for ever. */
function states(...statuses: Job['status'][]): { read: WaitDeps['read']; reads: () => number } {
  let reads = 0;
  const read = async (): Promise<Job> => {
    const status = statuses[Math.min(reads, statuses.length - 1)]!;
    reads += 1;
    return { id: 'j', status, phase: 'queued' } as Job;
  };
  return { read, reads: () => reads };
}

const silent: WaitDeps['events'] = async function* ({ signal }) {
  yield* [] as StreamEvent[];
  await new Promise((_resolve, reject) => {
    signal!.addEventListener('abort', () => reject(signal!.reason as Error));
  });
  throw new Error('never');
};

test('an event of the job makes it look at once', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const events: WaitDeps['events'] = async function* (options) {
    await promise;
    yield { id: '1', type: 'job.completed', data: { job_id: 'j' } };
    return yield* silent(options);
  };
  const { read, reads } = states('running', 'completed');
  const seen: string[] = [];
  const waiting = waitForJob('j', { read, events }, { onChange: ({ status }) => seen.push(status) });
  resolve();
  expect(await waiting).toMatchObject({ status: 'completed' });
  expect({ reads: reads(), seen }).toEqual({ reads: 2, seen: ['running', 'completed'] });
});

test('without a stream it looks now and then, well within the rate limit', async () => {
  const refused: WaitDeps['events'] = async function* () {
    yield* [] as StreamEvent[];
    throw new ProblemError(409, { code: 'conflict' });
  };
  const { read, reads } = states('pending', 'pending', 'pending', 'unknown');
  const waiting = waitForJob('j', { read, events: refused }, {});
  await vi.advanceTimersByTimeAsync(60_000);
  expect(await waiting).toMatchObject({ status: 'unknown' });
  expect(reads()).toBe(4);
});

test('it ends when its caller gives up', async () => {
  const ended = new AbortController();
  const waiting = waitForJob('j', { read: states('pending').read, events: silent }, { signal: ended.signal });
  const result = expect(waiting).rejects.toThrow('enough');
  await vi.advanceTimersByTimeAsync(1000);
  ended.abort(new Error('enough'));
  await result;
});
