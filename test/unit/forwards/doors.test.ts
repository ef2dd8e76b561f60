import { PassThrough } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Doors } from '../../../server/work/forwards/cluster/doors.ts';
import type { Entered } from '../../../server/work/forwards/cluster/messages.ts';
import type { DoorCount } from '../../../server/work/forwards/cluster/other-homes.ts';
import { FORWARD_LIMITS } from '../../../server/work/forwards/limits.ts';
import { LiveForward } from '../../../server/work/forwards/live-forward.ts';
import { termsOf } from '../../../server/work/forwards/terms.ts';
import type { ForwardRecord } from '../../../server/work/forwards/types.ts';
import { fakeSocketPair } from '../../harness/fake-channel-socket.ts';
import { ManualClock } from '../../harness/manual-clock.ts';

const NOW = 1_700_000_000_000;
const record = {
  id: 'f',
  team_id: 't',
  router_id: 'r',
  node_id: 'home',
  allow_only_cidr: '0.0.0.0/0',
  created_at: NOW,
  renewed_at: null,
  expires_at: NOW + 3_600_000,
} as unknown as ForwardRecord & { node_id: string };

class Client extends PassThrough {
  resetAndDestroy(): void {
    this.destroy();
  }
}

/** A door whose home answers as the test says. `spare`: how many places it may keep besides those of its connections. */
function setUp(home: { spare: number; beforeAnswer?: (() => Promise<void>) | undefined }) {
  const clock = new ManualClock(NOW);
  const asked: number[] = [];
  const told: DoorCount[] = [];
  /** What each home was told last. */
  const toldTo: Record<string, DoorCount> = {};
  const doors: Doors = new Doors({
    clock,
    homes: {
      enter: async (_home: string, _key: object, open: number): Promise<Entered> => {
        asked.push(open);
        await home.beforeAnswer?.();
        return { answer: 'welcome', spare: home.spare };
      },
      counts: (to: string, counts: readonly DoorCount[]) => {
        told.push(...counts);
        toldTo[to] = counts.at(-1)!;
      },
    },
    makeLive: (_record, closed) => {
      const live: LiveForward = new LiveForward({
        id: 'f',
        teamId: 't',
        routerId: 'r',
        terms: termsOf(record),
        maxConnections: Infinity,
        idleMs: null,
        clock,
        limits: FORWARD_LIMITS,
        dial: () => true,
        onAgentChanged: (former) => doors.agentChanged(live, former),
        onConnectionClosed: closed,
        onRefused: () => undefined,
        onExpired: () => undefined,
      });
      return live;
    },
  });
  /** @returns what ends the connection of the client that was let in */
  const enter = async (nodeId = 'home', agentId = 'a'): Promise<() => Promise<void>> => {
    const placed = { ...record, node_id: nodeId };
    const entry = doors.enterKept(placed) ?? (await doors.enter(placed, agentId));
    const cut = entry!.accept(new Client(), '192.0.2.1', () => undefined);
    return async () => {
      cut('client');
      await turn();
    };
  };
  const lastTold = async (): Promise<DoorCount | undefined> => {
    clock.advance(100);
    await turn();
    return told.at(-1);
  };
  return { clock, doors, asked, told, toldTo, enter, lastTold };
}

test('a place that is free again takes the next client without a question, for a second from the answer', async () => {
  const { clock, asked, enter, lastTold } = setUp({ spare: 2 });
  for (let count = 0; count < 3; count += 1) {
    const cut = await enter();
    expect(await lastTold()).toEqual({ id: 'f', open: 1, kept: 1 });
    await cut();
    expect(await lastTold()).toEqual({ id: 'f', open: 0, kept: 1 });
  }
  expect(asked).toEqual([1]);
  clock.advance(1000);
  expect(await lastTold()).toEqual({ id: 'f', open: 0, kept: 0 });
  await enter();
  expect(asked).toEqual([1, 1]);
});

test('clients beyond the places that it keeps are asked for', async () => {
  const { asked, enter, lastTold } = setUp({ spare: 2 });
  const first = await enter();
  await enter();
  await first();
  await enter();
  expect(await lastTold()).toEqual({ id: 'f', open: 2, kept: 2 });
  await enter();
  expect(asked).toEqual([1, 2, 3]);
});

test('of many clients that have gone, it keeps only so many places as its home can spare', async () => {
  const { asked, enter, lastTold } = setUp({ spare: 2 });
  const cuts = [await enter(), await enter(), await enter(), await enter(), await enter()];
  for (const cut of cuts) await cut();
  expect(await lastTold()).toEqual({ id: 'f', open: 0, kept: 2 });
  for (let count = 0; count < 3; count += 1) await enter();
  expect(asked).toEqual([1, 2, 3, 4, 5, 3]);
});

test('clients that come as others go are let in without a question', async () => {
  const { clock, asked, enter } = setUp({ spare: 16 });
  const cuts = [];
  for (let count = 0; count < 64; count += 1) cuts.push(await enter());
  // 576 clients in 0.9 s.
  for (let round = 0; round < 36; round += 1) {
    for (const cut of cuts.splice(0, 16)) await cut();
    clock.advance(25);
    for (let count = 0; count < 16; count += 1) cuts.push(await enter());
  }
  expect(asked).toHaveLength(64);
});

test('it asks for each client where the home has little room', async () => {
  const { asked, enter, lastTold } = setUp({ spare: 0 });
  await (
    await enter()
  )();
  expect(await lastTold()).toEqual({ id: 'f', open: 0, kept: 0 });
  await enter();
  expect(asked).toEqual([1, 1]);
});

test('it keeps nothing for a new home, nor under new terms', async () => {
  const { doors, asked, enter } = setUp({ spare: 2 });
  await (
    await enter()
  )();
  await (
    await enter('another')
  )();
  expect(asked).toEqual([1, 1]);
  doors.applyTerms(doors.get('f')!, termsOf(record));
  await enter('another');
  expect(asked).toEqual([1, 1, 1]);
});

test('a client that found no place before the agent was looked up gets one that is free since', async () => {
  const { doors, asked, enter } = setUp({ spare: 2 });
  await (
    await enter()
  )();
  await doors.enter(record, 'a');
  expect(asked).toEqual([1]);
});

test('no place is kept by the answer of a former home', async () => {
  const home: Parameters<typeof setUp>[0] = { spare: 0 };
  const { asked, enter } = setUp(home);
  const cuts: (() => Promise<void>)[] = [];
  home.beforeAnswer = async () => {
    home.beforeAnswer = undefined;
    cuts.push(await enter('another'));
    home.spare = 2;
  };
  cuts.push(await enter());
  for (const cut of cuts) await cut();
  await enter('another');
  expect(asked).toEqual([1, 2, 1]);
});

test('a door with a new home tells the former one, too, that it keeps nothing', async () => {
  const { toldTo, enter, lastTold } = setUp({ spare: 2 });
  await (
    await enter()
  )();
  expect(await lastTold()).toEqual({ id: 'f', open: 0, kept: 1 });
  const cut = await enter('another');
  await cut();
  await lastTold();
  expect(toldTo).toEqual({ home: { id: 'f', open: 0, kept: 0 }, another: { id: 'f', open: 0, kept: 1 } });
});

test('a door tells a home that has taken the forward over of its connections, and fills no place of the former one', async () => {
  const { doors, asked, toldTo, enter, lastTold } = setUp({ spare: 2 });
  await enter();
  await (
    await enter()
  )();
  expect(await lastTold()).toEqual({ id: 'f', open: 1, kept: 2 });
  doors.homeIs('f', 'another');
  await lastTold();
  expect(toldTo).toEqual({ home: { id: 'f', open: 1, kept: 0 }, another: { id: 'f', open: 1, kept: 0 } });
  await enter('another');
  expect(asked).toEqual([1, 2, 2]);
});

test('a door that closes, and one that a client opens meanwhile to a new home, tell both', async () => {
  const { doors, told, toldTo, enter, lastTold } = setUp({ spare: 0 });
  await enter();
  await lastTold();
  told.length = 0;
  const closing = doors.close('f', 'channel');
  await enter('another');
  await closing;
  await lastTold();
  expect(told).toHaveLength(2);
  expect(toldTo['another']).toEqual({ id: 'f', open: 1, kept: 0 });
});

test('a door that is closed gives back what it kept', async () => {
  const { doors, enter, lastTold } = setUp({ spare: 2 });
  await enter();
  expect(await lastTold()).toEqual({ id: 'f', open: 1, kept: 1 });
  await doors.close('f', 'channel');
  expect(await lastTold()).toEqual({ id: 'f', open: 0, kept: 0 });
});

test('clients on kept places are told together, a little later', async () => {
  const { asked, told, enter, lastTold } = setUp({ spare: 2 });
  for (let count = 0; count < 5; count += 1) await (await enter())();
  expect([asked, told]).toEqual([[1], []]);
  expect(await lastTold()).toEqual({ id: 'f', open: 0, kept: 1 });
  expect(told).toHaveLength(1);
});

test('no place is kept by an answer that the home gave before it was told of fewer', async () => {
  const home: Parameters<typeof setUp>[0] = { spare: 0 };
  const { asked, enter } = setUp(home);
  const first = await enter();
  home.spare = 2;
  home.beforeAnswer = async () => {
    home.beforeAnswer = undefined;
    await first();
    await turn();
  };
  await enter();
  await enter();
  expect(asked).toEqual([1, 2, 2]);
});

test('a door that is opened again while it closes is there for the channels of its client', async () => {
  const { doors, enter } = setUp({ spare: 2 });
  await enter();
  const closing = doors.close('f', 'channel');
  await enter();
  await closing;
  expect(doors.get('f')?.ended).toBe(false);
});

test('a client of a router that has moved to another agent gets a new door: nothing of the former agent is used', async () => {
  const { doors, enter, lastTold } = setUp({ spare: 0 });
  // The router has no agent yet: the door stays when it gets one.
  await enter('home', '');
  const former = doors.get('f')!;
  await enter('home', 'a');
  expect(doors.get('f')).toBe(former);
  const [channel] = fakeSocketPair();
  former.addChannel(channel);
  await enter('home', 'b');
  await turn();
  expect([former.ended, former.connectionCount, channel.closeCode]).toEqual([true, 0, 1000]);
  expect([doors.get('f')!.ended, doors.ofAgent('a'), doors.ofAgent('b')]).toEqual([false, [], [doors.get('f')]]);
  expect(await lastTold()).toEqual({ id: 'f', open: 1, kept: 0 });
});
