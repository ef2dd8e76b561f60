import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Openings, OPENINGS } from '../../../server/platform/tunnel/openings.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** What one team that is alone may have. */
const HALF = OPENINGS.total / 2;

interface Dials {
  granted: string[];
  refused: string[];
  holders: { party: string; member: string }[];
}

/** Dials of one team, each of another agent. */
function dial(openings: Openings, party: string, count: number): Dials {
  const dials: Dials = { granted: [], refused: [], holders: [] };
  for (let index = 0; index < count; index += 1) {
    const holder = { party, member: `${party} ${index}` };
    dials.holders.push(holder);
    void openings.enter(holder).then((isGranted) => (isGranted ? dials.granted : dials.refused).push(holder.member));
  }
  return dials;
}

const settled = (): Promise<unknown> => vi.advanceTimersByTimeAsync(0);

test('of a team that is alone, half of the openings are under way, and each that ends lets the next one in', async () => {
  const openings = new Openings();
  const { granted, holders } = dial(openings, 'a', 1000);
  await settled();
  expect(granted).toHaveLength(HALF);
  expect(openings.waiting).toBe(1000 - HALF);
  for (const holder of holders) {
    openings.leave(holder);
    await settled();
  }
  expect(granted).toEqual(holders.map(({ member }) => member));
  expect([openings.waiting, openings.shares.taken]).toEqual([0, 0]);
});

test('another team does not wait behind it', async () => {
  const openings = new Openings();
  dial(openings, 'a', 1000);
  const { granted } = dial(openings, 'b', 10);
  await settled();
  expect(granted).toHaveLength(10);
});

test('who waits too long is refused, and takes no place of those behind it', async () => {
  const openings = new Openings();
  const { granted, refused, holders } = dial(openings, 'a', HALF + 5);
  await vi.advanceTimersByTimeAsync(5000);
  const behind = openings.enter({ party: 'a', member: 'late' });
  await vi.advanceTimersByTimeAsync(5000);
  expect(refused).toHaveLength(5);
  openings.leave(holders[0]!);
  expect(await behind).toBe(true);
  expect(granted).toHaveLength(HALF);
});

test('an agent that dials again and again takes no more than its share', async () => {
  const openings = new Openings();
  const outcomes: boolean[] = [];
  for (let count = 0; count < 20; count += 1)
    void openings.enter({ party: 'a', member: 'a 1' }).then((isGranted) => outcomes.push(isGranted));
  await settled();
  expect(outcomes.filter(Boolean)).toHaveLength(OPENINGS.perMember);
});
