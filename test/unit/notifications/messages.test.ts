import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { takeTokens } from '../../../server/outbound/notifications/messages/buckets/tokens.ts';
import type { Bucket } from '../../../server/outbound/notifications/messages/buckets/tokens.ts';
import { ATTEMPTS_MS, attemptWithin, EXPIRES_AFTER_MS, nextAttemptAt } from '../../../server/outbound/notifications/messages/schedule.ts';
import { kindFor } from '../../../server/outbound/notifications/messages/sending/knowledge.ts';

describe('what a person who knows so much is told', () => {
  it.each([
    ['resolve', [['open', 'sent']], 'resolve'],
    ['resolve', [['open', 'superseded']], 'was_away'],
    ['update', [['open', 'superseded']], 'open'],
    ['reminder', [['open', 'failed']], 'open'],
    ['update', [['open', 'sent']], 'update'],
    ['open', [], 'open'],
    // An earlier round was heard of, this one was not.
    [
      'resolve',
      [
        ['open', 'sent'],
        ['resolve', 'sent'],
        ['open', 'superseded'],
      ],
      'was_away',
    ],
    // A later message said that it is open.
    [
      'resolve',
      [
        ['open', 'superseded'],
        ['update', 'sent'],
      ],
      'resolve',
    ],
    // What remained of a storm.
    ['resolve', [], 'resolve'],
    // An end that did not arrive ended nothing, and a second opening that did not arrive changes nothing.
    [
      'resolve',
      [
        ['open', 'sent'],
        ['resolve', 'superseded'],
        ['open', 'superseded'],
      ],
      'resolve',
    ],
    // A person of two groups has a line for each.
    [
      'resolve',
      [
        ['open', 'sent'],
        ['open', 'withheld', 'duplicate'],
      ],
      'resolve',
    ],
    [
      'reminder',
      [
        ['open', 'sent'],
        ['open', 'withheld', 'duplicate'],
      ],
      'reminder',
    ],
    [
      'resolve',
      [
        ['open', 'failed'],
        ['open', 'withheld', 'duplicate'],
      ],
      'was_away',
    ],
    [
      'resolve',
      [
        ['open', 'sent'],
        ['escalation', 'superseded'],
      ],
      'resolve',
    ],
    [
      'resolve',
      [
        ['open', 'sent'],
        ['escalation', 'withheld', 'muted'],
      ],
      'resolve',
    ],
    [
      'acknowledged',
      [
        ['open', 'sent'],
        ['escalation', 'superseded'],
      ],
      'acknowledged',
    ],
    [
      'resolve',
      [
        ['open', 'withheld'],
        ['still_open', 'sent'],
      ],
      'resolve',
    ],
  ])('%s after %j is %s', (kind, earlier, told) => {
    expect(
      kindFor(
        { kind },
        earlier.map(([each, state, reason]) => ({ kind: each!, state: state!, reason: reason ?? null })),
      ),
    ).toBe(told);
  });
});

it.each([
  ['test', 9000, 9000],
  ['test', 1500, 1500],
  ['test', -1, 0],
  ['test', 60_000, 45_000],
  ['open', 1500, 45_000],
])('an attempt of a message of kind %s that expires in %i ms takes at most %i ms', (kind, left, within) => {
  expect(attemptWithin({ kind, expires_at: 1000 + left }, 45_000, 1000)).toBe(within);
});

describe('a bucket', () => {
  const rate = { perSecond: 2, burst: 4 };

  it('gives its burst at once and then its rate', () => {
    const first = takeTokens(undefined, rate, 10, 0);
    expect(first).toMatchObject({ granted: 4, nextAt: 500 });
    expect(takeTokens(first.bucket, rate, 10, 499)).toMatchObject({ granted: 0 });
    expect(takeTokens(first.bucket, rate, 10, 1000)).toMatchObject({ granted: 2 });
  });

  it('gives nothing while it is stopped, and everything after', () => {
    const stopped = { tokens: 4, at: 0, stoppedUntil: 1000, probingUntil: null };
    expect(takeTokens(stopped, rate, 1, 999)).toMatchObject({ granted: 0, nextAt: 1000 });
    expect(takeTokens(stopped, rate, 1, 1000)).toMatchObject({ granted: 1 });
  });

  it('gives one at a time once its account was refused, until one has arrived', () => {
    const refused = { tokens: 4, at: 0, stoppedUntil: 1000, probingUntil: 0 };
    expect(takeTokens(refused, rate, 4, 999)).toMatchObject({ granted: 0, nextAt: 1000 });
    const probe = takeTokens(refused, rate, 4, 1000);
    expect(probe).toMatchObject({ granted: 1, nextAt: 6000 });
    expect(takeTokens(probe.bucket, rate, 3, 6000)).toMatchObject({ granted: 0, nextAt: 11_000 });
    // Its process has died.
    expect(takeTokens(probe.bucket, rate, 3, 61_000)).toMatchObject({ granted: 1 });
    expect(takeTokens({ ...probe.bucket, probingUntil: null }, rate, 3, 6000)).toMatchObject({ granted: 3 });
  });

  it('never gives more than its burst and its rate, and always says when there is one again', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(2000), fc.nat(6)), { maxLength: 50 }), (steps) => {
        let bucket: Bucket = { tokens: rate.burst, at: 0, stoppedUntil: null, probingUntil: null };
        let [now, given] = [0, 0];
        for (const [wait, wanted] of steps) {
          now += wait;
          const taken = takeTokens(bucket, rate, wanted, now);
          bucket = taken.bucket;
          given += taken.granted;
          expect(given).toBeLessThanOrEqual(rate.burst + (now * rate.perSecond) / 1000 + 1e-3);
          expect(takeTokens(bucket, rate, 1, Math.max(now, taken.nextAt)).granted).toBe(1);
        }
      }),
    );
  });

  it('a clock that is set back neither fills nor blocks it', () => {
    const { bucket } = takeTokens(undefined, rate, 4, 1_000_000);
    const back = takeTokens(bucket, rate, 1, 0);
    expect(back.granted).toBe(0);
    expect(takeTokens(back.bucket, rate, 1, 500).granted).toBe(1);
  });
});

describe('attempts', () => {
  it('come after 5 s first and every half hour at last, until the message expires', () => {
    let at = 0;
    let attempts = 1;
    for (; at < EXPIRES_AFTER_MS; attempts += 1) {
      const next = nextAttemptAt({ attempts, now: at, random: 0.5 });
      expect(next - at).toBe(ATTEMPTS_MS[Math.min(attempts, ATTEMPTS_MS.length - 1)]);
      at = next;
    }
    expect(attempts).toBe(19);
  });

  it.each([0, 0.999])('vary by a tenth either way: %d', (random) => {
    const wait = nextAttemptAt({ attempts: 3, now: 0, random });
    expect(Math.abs(wait - 60_000)).toBeLessThanOrEqual(6000);
  });
});
