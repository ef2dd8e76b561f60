import { EventEmitter } from 'node:events';
import type { Server } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import {
  DIALS_WAITING,
  OPENING_AT_LEAST_EVERY_MS,
  OPENING_RUSH,
  Openings,
  OPENINGS,
  OPENINGS_IN_A_TURN,
} from '../../../server/platform/tunnel/openings.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
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
function dial(openings: Openings, party: string, count: number, from = 0): Dials {
  const dials: Dials = { granted: [], refused: [], holders: [] };
  for (let index = 0; index < count; index += 1) {
    const holder = { party, member: `${party} ${from + index}` };
    dials.holders.push(holder);
    void openings.enter(holder).then((isGranted) => (isGranted ? dials.granted : dials.refused).push(holder.member));
  }
  return dials;
}

/** As many turns of the event loop as all openings need to begin. */
async function settled(): Promise<void> {
  for (let count = 0; count <= OPENINGS.total / OPENINGS_IN_A_TURN; count += 1) await turn();
}

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
  await settled();
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
  await settled();
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
  dial(openings, 'hog', HALF);
  await settled();
  const hog = dial(openings, 'hog', DIALS_WAITING + 10, HALF);
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
      .slice(DIALS_WAITING - 500, DIALS_WAITING)
      .map(({ member }) => member)
      .toReversed(),
  );
  for (const holder of rest) openings.leave(holder);
  await settled();
  expect(others.granted.length).toBeGreaterThan(0);
});

test('two teams that fill the line have half of it each', async () => {
  const openings = new Openings();
  for (const team of ['one', 'two']) dial(openings, team, OPENINGS.total);
  await settled();
  dial(openings, 'one', DIALS_WAITING * 2, OPENINGS.total);
  const two = dial(openings, 'two', DIALS_WAITING * 2, OPENINGS.total);
  await settled();
  expect(openings.waiting).toBe(DIALS_WAITING);
  const ofTwo = two.holders.length - two.granted.length - two.refused.length;
  expect(Math.abs(ofTwo - DIALS_WAITING / 2)).toBeLessThanOrEqual(OPENINGS.total);
});

test('a few openings at most begin in one turn of the event loop', async () => {
  const openings = new Openings();
  const { granted } = dial(openings, 'a', 100);
  await Promise.resolve();
  const begun = [granted.length];
  for (let count = 0; count < 20; count += 1) {
    const before = granted.length;
    await turn();
    begun.push(granted.length - before);
  }
  expect(Math.max(...begun)).toBeLessThanOrEqual(OPENINGS_IN_A_TURN);
  expect(granted).toHaveLength(100);
});

test('while connections wait to be accepted, one opening begins for each eight of them, and all as usual when none waits', async () => {
  const openings = new Openings();
  const server = new EventEmitter();
  openings.watch(server as Server);
  // One in each turn of the event loop, as Node accepts them.
  const arrive = async (connections: number): Promise<void> => {
    for (let count = 0; count < connections; count += 1) {
      server.emit('connection');
      await turn();
    }
  };
  await arrive(OPENING_RUSH.turns);
  const { granted } = dial(openings, 'a', 100);
  await arrive(OPENING_RUSH.connections * 10);
  expect(granted).toHaveLength(OPENINGS_IN_A_TURN + 10);
  await settled();
  expect(granted).toHaveLength(100);
});

test('while connections wait to be accepted on a busy machine, one opening begins every 10 ms', async () => {
  const openings = new Openings();
  const server = new EventEmitter();
  openings.watch(server as Server);
  for (let count = 0; count < OPENING_RUSH.turns; count += 1) {
    server.emit('connection');
    await turn();
  }
  const { granted } = dial(openings, 'a', 100);
  // Turns of 10 ms each: without it there would be two openings in all of them.
  for (let count = 0; count < OPENING_RUSH.connections * 2; count += 1) {
    server.emit('connection');
    vi.advanceTimersByTime(OPENING_AT_LEAST_EVERY_MS);
    await turn();
  }
  expect(granted).toHaveLength(OPENINGS_IN_A_TURN + OPENING_RUSH.connections * 2 + 2);
});
