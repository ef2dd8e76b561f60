import { expect, test } from 'vitest';
import { FORWARD_LIMITS } from '../../../server/work/forwards/limits.ts';
import { LiveForward } from '../../../server/work/forwards/live-forward.ts';
import { LiveForwards } from '../../../server/work/forwards/live-forwards.ts';
import { ManualClock } from '../../harness/manual-clock.ts';

function setUp() {
  const forwards = new LiveForwards();
  const clock = new ManualClock();
  const make = (id: string, routerId: string, maxConnections = 9): LiveForward => {
    const live: LiveForward = new LiveForward({
      id,
      teamId: 't',
      routerId,
      terms: { allowOnlyCidr: '198.51.100.7/32', setAt: clock.now(), expiresAt: clock.now() + 86_400_000 },
      maxConnections,
      idleMs: null,
      clock,
      limits: FORWARD_LIMITS,
      dial: () => true,
      onAgentChanged: (former) => forwards.agentChanged(live, former),
      onConnectionClosed: () => undefined,
      onRefused: () => undefined,
      onExpired: () => undefined,
    });
    return live;
  };
  return { forwards, make };
}

test('a forward is found by its id, by its router, and by the agent that it has now', () => {
  const { forwards, make } = setUp();
  const [first, second] = [make('f1', 'r1'), make('f2', 'r1')];
  // Before it is added, and after.
  first.assignAgent('a1');
  forwards.add(first);
  forwards.add(second);
  second.assignAgent('a1');
  expect(forwards.get('f2')).toBe(second);
  expect(forwards.ofRouter('r1')).toEqual([first, second]);
  expect(forwards.ofAgent('a1')).toEqual([first, second]);
  second.assignAgent('a2');
  expect(forwards.ofAgent('a1')).toEqual([first]);
  expect(forwards.ofAgent('a2')).toEqual([second]);
  first.detachAgent();
  expect(forwards.ofAgent('a1')).toEqual([]);
  expect(forwards.ofAgent('')).toEqual([]);
  expect(forwards.all()).toEqual([first, second]);
});

test('a forward that was removed is found nowhere, also when its agent changes afterwards', () => {
  const { forwards, make } = setUp();
  const live = make('f', 'r');
  live.assignAgent('a1');
  forwards.add(live);
  forwards.delete('f');
  live.assignAgent('a2');
  for (const found of [forwards.all(), forwards.ofRouter('r'), forwards.ofAgent('a1'), forwards.ofAgent('a2')]) expect(found).toEqual([]);
  expect(forwards.get('f')).toBeUndefined();
});

test('a second forward of an id replaces the first, and adding one again changes nothing', () => {
  const { forwards, make } = setUp();
  const [first, second] = [make('f', 'r'), make('f', 'r')];
  for (const live of [first, second]) live.assignAgent('a');
  forwards.add(first);
  forwards.add(first);
  expect(forwards.ofRouter('r')).toEqual([first]);
  forwards.add(second);
  expect(forwards.ofRouter('r')).toEqual([second]);
  expect(forwards.ofAgent('a')).toEqual([second]);
});

test('what another control plane keeps counts against the limit, and is not shown as open', () => {
  const live = setUp().make('f', 'r', 20);
  expect(live.lend('door', 1)).toBe(true);
  live.setLent('door', 0, 5);
  expect([live.lentCount, live.full, live.lentTo]).toEqual([0, false, ['door']]);
  expect(live.lend('another', 16)).toBe(false);
  expect(live.lend('another', 15)).toBe(true);
  expect([live.lentCount, live.full]).toEqual([15, true]);
  live.setLent('door', 0);
  expect([live.full, live.lentTo]).toEqual([false, ['another']]);
});

test('another control plane may keep a quarter of the places that are free while at least half of them and eight are', () => {
  const { make } = setUp();
  const spares = (most: number, taken: number[]): number[] =>
    taken.map((open) => {
      const live = make('f', 'r', most);
      live.setLent('door', open);
      return live.spare;
    });
  expect(spares(20, [1, 10, 11])).toEqual([4, 2, 0]);
  expect(spares(9, [1, 2])).toEqual([2, 0]);
  expect(spares(2, [1])).toEqual([0]);
});
