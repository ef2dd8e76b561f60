import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { DIALS_WAITING, Openings, OPENINGS } from '../../../server/platform/tunnel/openings.ts';

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

test('an agent that waits more often than it may dial takes no place of its team', async () => {
  const openings = new Openings();
  const hog = { party: 'a', member: 'hog' };
  for (let count = 0; count < OPENINGS.perMember; count += 1) await openings.enter(hog);
  const before = dial(openings, 'a', HALF - OPENINGS.perMember);
  for (let count = 0; count < 50; count += 1) void openings.enter(hog);
  dial(openings, 'a', 200);
  await settled();
  for (const holder of before.holders) {
    openings.leave(holder);
    await settled();
    expect(openings.shares.taken).toBe(HALF);
  }
});

test('teams take turns, also when more of them wait than may open at once', async () => {
  const openings = new Openings();
  const inFlight: { party: string; member: string }[] = [];
  const served = new Set<string>();
  const dialAll = (name: string, teams: number, agents: number): void => {
    for (let team = 0; team < teams; team += 1) {
      for (let index = 0; index < agents; index += 1) {
        const holder = { party: `${name} ${team}`, member: `${name} ${team} ${index}` };
        void openings.enter(holder).then((isGranted) => {
          if (!isGranted) return;
          inFlight.push(holder);
          served.add(holder.party);
        });
      }
    }
  };
  dialAll('early', OPENINGS.total, 20);
  dialAll('late', 64, 4);
  await settled();
  for (let left = 0; left < OPENINGS.total * 4; left += 1) {
    openings.leave(inFlight.shift()!);
    await settled();
  }
  expect([...served].filter((party) => party.startsWith('late'))).toHaveLength(64);
});

test('a team that fills the line makes room for the others, and gets it all when it is alone', async () => {
  const openings = new Openings();
  const hog = dial(openings, 'hog', DIALS_WAITING + HALF + 10);
  await settled();
  expect(openings.waiting).toBe(DIALS_WAITING);
  expect(hog.refused).toHaveLength(10);
  // All openings are taken, so that the others have to wait as well.
  const rest: { party: string; member: string }[] = [];
  for (let team = 0; openings.shares.taken < OPENINGS.total; team += 1) {
    const holder = { party: `rest ${team}`, member: 'one' };
    if (await openings.enter(holder)) rest.push(holder);
  }
  const others = dial(openings, 'other', 500);
  await settled();
  expect(openings.waiting).toBe(DIALS_WAITING);
  expect(others.refused).toEqual([]);
  // The last ones, who would have waited longest.
  expect(hog.refused.slice(10)).toEqual(
    hog.holders
      .slice(HALF + DIALS_WAITING - 500, HALF + DIALS_WAITING)
      .map(({ member }) => member)
      .toReversed(),
  );
  for (const holder of rest) openings.leave(holder);
  await settled();
  expect(others.granted.length).toBeGreaterThan(0);
});

test('two teams that fill the line have half of it each', async () => {
  const openings = new Openings();
  dial(openings, 'one', DIALS_WAITING * 2);
  const two = dial(openings, 'two', DIALS_WAITING * 2);
  await settled();
  expect(openings.waiting).toBe(DIALS_WAITING);
  expect(two.holders.length - two.granted.length - two.refused.length).toBe(DIALS_WAITING / 2);
});
