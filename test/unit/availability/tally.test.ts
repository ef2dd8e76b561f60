import fc from 'fast-check';
import { expect, test } from 'vitest';
import { percentOf, sum, Tally, union } from '../../../server/fleet/availability/tally.ts';
import type { Stretch } from '../../../server/fleet/availability/tally.ts';
import type { Bucket, Share, Shares, Span } from '../../../server/fleet/availability/types.ts';

const always: Span[] = [{ from: 0, to: 1_000_000 }];

function tally(buckets: readonly Span[], known: readonly Span[], states: readonly Stretch[]): Bucket[] {
  const counted = new Tally(buckets, known);
  for (const state of states) counted.add(state);
  return counted.finish();
}

const shares = (answering: number, silent: number, away: number, unknown: number): Shares => ({
  answering,
  not_answering: silent,
  agent_away: away,
  unknown,
});
const state = (from: number, to: number, share: Share): Stretch => ({ from, to, share });

test.each<[string, Span[], Stretch[], Shares]>([
  ['no state', always, [], shares(0, 0, 0, 100)],
  ['one state for all of it', always, [state(-50, 500, 'answering')], shares(100, 0, 0, 0)],
  ['a state that begins in it', always, [state(30, 500, 'answering')], shares(70, 0, 0, 30)],
  ['a state that ends in it', always, [state(-1, 30, 'agent_away')], shares(0, 0, 30, 70)],
  [
    'all states',
    always,
    [state(-9, 10, 'answering'), state(10, 30, 'not_answering'), state(30, 60, 'agent_away'), state(60, 100, 'unknown')],
    shares(10, 20, 30, 40),
  ],
  ['a state after it', always, [state(100, 200, 'answering')], shares(0, 0, 0, 100)],
  [
    'a state of no time',
    always,
    [state(0, 40, 'answering'), state(40, 40, 'agent_away'), state(40, 100, 'answering')],
    shares(100, 0, 0, 0),
  ],
  ['no control plane', [], [state(0, 100, 'answering')], shares(0, 0, 0, 100)],
  [
    'a control plane that was away',
    [
      { from: 0, to: 40 },
      { from: 70, to: 200 },
    ],
    [state(0, 40, 'answering'), state(40, 100, 'agent_away')],
    shares(40, 0, 30, 30),
  ],
  [
    'a state that goes on while the control plane is away',
    [
      { from: 10, to: 20 },
      { from: 80, to: 90 },
    ],
    [state(0, 100, 'agent_away')],
    shares(0, 0, 20, 80),
  ],
  [
    'a state within another, after the clock was set back',
    always,
    [state(0, 100, 'answering'), state(20, 50, 'agent_away')],
    shares(70, 0, 30, 0),
  ],
])('%s', (_name, known, states, expected) => {
  expect(tally([{ from: 0, to: 100 }], known, states)).toEqual([{ from: 0, to: 100, shares: expected }]);
});

test('a state is divided where buckets meet', () => {
  const buckets = [
    { from: 0, to: 100 },
    { from: 100, to: 150 },
  ];
  expect(tally(buckets, always, [state(40, 120, 'answering'), state(120, 300, 'not_answering')]).map((bucket) => bucket.shares)).toEqual([
    shares(60, 0, 0, 40),
    shares(20, 30, 0, 0),
  ]);
});

test.each<[Span[], Span[]]>([
  [[], []],
  [
    [
      { from: 0, to: 5 },
      { from: 5, to: 9 },
      { from: 7, to: 8 },
      { from: 20, to: 20 },
      { from: 30, to: 31 },
    ],
    [
      { from: 0, to: 9 },
      { from: 30, to: 31 },
    ],
  ],
])('the union of %j', (spans, expected) => {
  expect(union(spans)).toEqual(expected);
});

test.each<[Shares, number | null]>([
  [shares(0, 0, 0, 100), null],
  [shares(100, 0, 0, 900), 100],
  [shares(1, 1, 0, 0), 50],
  [shares(0, 1, 1, 0), 0],
  // Never 100 while something is missing.
  [shares(99_999_999, 0, 1, 0), 99.999],
])('%j is %s percent of what is known', (parts, percent) => {
  expect(percentOf(parts)).toBe(percent);
});

const SHARES: Share[] = ['answering', 'not_answering', 'agent_away', 'unknown'];
const END = 60;
const span = fc
  .tuple(fc.integer({ min: -5, max: END + 5 }), fc.integer({ min: 0, max: 30 }))
  .map(([from, length]) => ({ from, to: from + length }));
const byBeginning = <One extends Span>(spans: One[]): One[] => spans.toSorted((one, other) => one.from - other.from);
const history = fc
  .array(
    fc.tuple(span, fc.constantFrom(...SHARES)).map(([{ from, to }, share]) => state(from, to, share)),
    { maxLength: 12 },
  )
  .map(byBeginning);
const runs = fc.array(span, { maxLength: 5 }).map((spans) => union(byBeginning(spans)));
const edges = fc.uniqueArray(fc.integer({ min: 1, max: END - 1 }), { maxLength: 8 }).map((cuts) => {
  const all = [0, ...cuts.toSorted((one, other) => one - other), END];
  return all.slice(1).map((to, index) => ({ from: all[index]!, to }));
});

/** Moment by moment: whether somebody was there to see, and which state began last of those that it lies in. */
function shareAt(at: number, known: readonly Span[], states: readonly Stretch[]): Share {
  const covers = ({ from, to }: Span) => from <= at && at < to;
  return known.some(covers) ? (states.findLast(covers)?.share ?? 'unknown') : 'unknown';
}

test('property: every moment counts once, as what it was', () => {
  fc.assert(
    fc.property(edges, runs, history, (buckets, known, states) => {
      for (const { from, to, shares: counted } of tally(buckets, known, states)) {
        const expected = shares(0, 0, 0, 0);
        for (let at = from; at < to; at += 1) expected[shareAt(at, known, states)] += 1;
        expect(counted).toEqual(expected);
        expect(SHARES.reduce((total, share) => total + counted[share], 0)).toBe(to - from);
      }
    }),
    { numRuns: 2000 },
  );
});

test('property: adjacent buckets together are the wider bucket', () => {
  fc.assert(
    fc.property(edges, runs, history, (buckets, known, states) => {
      const [whole] = tally([{ from: 0, to: END }], known, states);
      expect(sum(tally(buckets, known, states).map((bucket) => bucket.shares))).toEqual(whole!.shares);
    }),
    { numRuns: 1000 },
  );
});
