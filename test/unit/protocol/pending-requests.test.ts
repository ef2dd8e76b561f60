import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { PendingRequests } from '../../../protocol/index.ts';
import { ManualClock } from '../../harness/manual-clock.ts';

class Ended extends Error {}

function setUp() {
  const clock = new ManualClock();
  const pending = new PendingRequests<string, string>(clock);
  const expiries: string[] = [];
  const open = (timeoutMs = 1000, signal?: AbortSignal) =>
    pending.open('context', {
      timeoutMs,
      signal,
      onExpiry: (why, id) => {
        expiries.push(`${why} ${id}`);
        return new Ended(why);
      },
    });
  return { clock, pending, open, expiries };
}

describe('a pending request', () => {
  test('ends with its answer, once', async () => {
    const { pending, open, clock } = setUp();
    const { id, answer } = open();
    expect(pending.context(id)).toBe('context');
    expect(pending.resolve(id, 'yes')).toBe(true);
    expect(pending.resolve(id, 'again')).toBe(false);
    expect(await answer).toBe('yes');
    expect([pending.size, clock.pending, pending.context(id)]).toEqual([0, 0, undefined]);
  });

  test('ends at its deadline', async () => {
    const { clock, open, expiries } = setUp();
    const { id, answer } = open(1000);
    const outcome = expect(answer).rejects.toThrow('timeout');
    clock.advance(999);
    expect(expiries).toEqual([]);
    clock.advance(1);
    await outcome;
    expect(expiries).toEqual([`timeout ${id}`]);
  });

  test('ends by its signal, also if it is already aborted', async () => {
    const { open, clock, expiries } = setUp();
    const abort = new AbortController();
    const first = expect(open(1000, abort.signal).answer).rejects.toThrow('aborted');
    abort.abort();
    const second = expect(open(1000, abort.signal).answer).rejects.toThrow('aborted');
    await Promise.all([first, second]);
    expect(expiries).toEqual(['aborted 1', 'aborted 2']);
    expect(clock.pending).toBe(0);
  });

  test('ids are never used twice', () => {
    const { pending, open } = setUp();
    const first = open().id;
    pending.resolve(first, '');
    expect(open().id).not.toBe(first);
  });
});

test('no request survives the close, whatever happened before it', async () => {
  const step = fc.oneof(
    fc.record({ do: fc.constant('open' as const), timeoutMs: fc.nat(100) }),
    fc.record({ do: fc.constantFrom('resolve' as const, 'reject' as const, 'abort' as const), which: fc.nat(20) }),
    fc.record({ do: fc.constant('advance' as const), ms: fc.nat(60) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const { clock, pending, open } = setUp();
      const aborts: AbortController[] = [];
      const settled: Promise<string>[] = [];
      for (const now of steps) {
        if (now.do === 'open') {
          const abort = new AbortController();
          aborts.push(abort);
          settled.push(
            open(now.timeoutMs, abort.signal).answer.then(
              () => 'answer',
              (error: unknown) => (error as Error).message,
            ),
          );
        } else if (now.do === 'advance') clock.advance(now.ms);
        else if (now.do === 'abort') aborts[now.which]?.abort();
        else if (now.do === 'resolve') pending.resolve(now.which, 'yes');
        else pending.reject(now.which, new Ended('no'));
      }
      pending.rejectAll(() => new Ended('closed'));
      expect(pending.size).toBe(0);
      expect(clock.pending).toBe(0);
      const outcomes = await Promise.all(settled);
      expect(outcomes.every((outcome) => ['answer', 'no', 'timeout', 'aborted', 'closed'].includes(outcome))).toBe(true);
    }),
    { numRuns: 200 },
  );
});
