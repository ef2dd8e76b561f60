import { beforeEach, describe, expect, test } from 'vitest';
import { Channel } from '../../../protocol/index.ts';
import type { ChannelConnection } from '../../../protocol/index.ts';
import { ChannelPool, RESTS_AFTER_MS } from '../../../server/work/forwards/channel-pool.ts';
import { FakeChannelSocket, fakeSocketPair } from '../../harness/fake-channel-socket.ts';
import { ManualClock } from '../../harness/manual-clock.ts';

/** The channels of one forward, with an agent that dials when the test says so. */
const LIMITS = { channels: 40, warmChannels: 4, channelWaitMs: 10_000, dialTimeoutMs: 5000, idlePeriodMs: 30_000 };

let clock: ManualClock;
let pool: ChannelPool;
/** How many channels the agent was asked for, request by request. */
let asked: number[];
let isAgentThere: boolean;
/** Both ends of every channel in the order of their coming, and the agent's side, which knows how much it has carried. */
let channels: { own: FakeChannelSocket; agents: FakeChannelSocket; side: Channel }[];

beforeEach(() => {
  [clock, asked, isAgentThere, channels] = [new ManualClock(), [], true, []];
  pool = open();
});

function open(limits: Partial<typeof LIMITS> = {}): ChannelPool {
  const dial = (count: number): boolean => {
    if (isAgentThere) asked.push(count);
    return isAgentThere;
  };
  return new ChannelPool({ clock, limits: { ...LIMITS, ...limits }, dial });
}

/** The agent has dialled so many channels. */
function dialled(count: number): void {
  for (let n = 0; n < count; n += 1) {
    const [own, agents] = fakeSocketPair();
    // It answers a reset with its own, which is what makes a channel free again.
    const side = new Channel(agents, 'accepter', { onConnection: () => undefined, onClosed: () => undefined });
    channels.push({ own, agents, side });
    pool.add(own);
  }
}

/** Everything that is under way arrives, and what has closed is told. */
async function settle(): Promise<void> {
  while (channels.some(({ own, agents }) => own.deliver() || agents.deliver()));
  await Promise.resolve();
}

/** Somebody who wants a connection. */
class Client {
  connection: ChannelConnection | undefined;
  hasGivenUp = false;
  readonly ready = (connection: ChannelConnection): void => void (this.connection = connection);
  readonly gaveUp = (): void => void (this.hasGivenUp = true);

  async leave(): Promise<void> {
    this.connection!.cut('the client has gone');
    await settle();
  }
}

function come(count: number): Client[] {
  const clients = Array.from({ length: count }, () => new Client());
  for (const client of clients) pool.request(client);
  return clients;
}

async function leave(clients: Client[]): Promise<void> {
  for (const client of clients) await client.leave();
}

const served = (clients: Client[]): boolean[] => clients.map(({ connection }) => connection !== undefined);
const carried = (): number[] => channels.map(({ side }) => side.carried);

describe('a connection', () => {
  test('begins at once on a free channel', () => {
    dialled(4);
    expect(served(come(1))).toEqual([true]);
    expect(pool.freeCount).toBe(3);
  });

  test('leaves its channel to the next one', async () => {
    dialled(1);
    for (let n = 0; n < 5; n += 1) {
      const [client] = come(1);
      expect(served([client!])).toEqual([true]);
      await leave([client!]);
    }
    expect(carried()).toEqual([5]);
    expect(pool.size).toBe(1);
  });

  test('takes the channel that was used last, so that the others can be let go', async () => {
    dialled(4);
    for (let n = 0; n < 3; n += 1) await leave(come(1));
    expect(carried()).toEqual([0, 0, 0, 3]);
  });

  test('is not put on a channel that is being closed', async () => {
    dialled(2);
    channels[1]!.agents.send('this is not in the protocol');
    channels[1]!.agents.deliver();
    // That it has closed is still to be told.
    expect(served(come(1))).toEqual([true]);
    await settle();
    expect(carried()).toEqual([1, 0]);
  });

  test('is not put on one that was dropped', () => {
    dialled(2);
    pool.drop('the agent is not trusted any more');
    expect(served(come(1))).toEqual([false]);
  });
});

describe('channels are asked for', () => {
  test('before the free ones have run out', () => {
    dialled(4);
    come(1);
    expect(asked).toEqual([]);
    come(1);
    expect(asked).toEqual([2]);
    expect(pool.freeCount).toBe(2);
  });

  test('and not twice while they are on their way', () => {
    dialled(4);
    come(3);
    expect(asked).toEqual([2]);
    dialled(2);
    expect(pool.freeCount).toBe(3);
  });

  test('for all that wait, and some more', () => {
    come(7);
    expect(asked.reduce((sum, count) => sum + count)).toBe(7 + LIMITS.warmChannels);
  });

  test('not beyond the limit, and one that comes all the same is closed', () => {
    pool = open({ channels: 3 });
    const clients = come(5);
    expect(asked.reduce((sum, count) => sum + count)).toBe(3);
    dialled(4);
    expect(pool.size).toBe(3);
    expect(channels.map(({ own }) => own.closeCode)).toEqual([undefined, undefined, undefined, 1000]);
    expect(served(clients)).toEqual([true, true, true, false, false]);
  });

  test('not more than another message has already requested', () => {
    pool.expect(4);
    come(2);
    expect(asked).toEqual([2]);
    dialled(6);
    expect(pool.freeCount).toBe(4);
  });

  test('again after a while when they did not arrive and a client waits', () => {
    come(1);
    clock.advance(LIMITS.dialTimeoutMs - 1);
    const before = asked.length;
    clock.advance(1);
    expect(asked.slice(before)).toEqual([1 + LIMITS.warmChannels]);
  });

  test('in place of those that are lost', async () => {
    dialled(4);
    for (const { own } of channels.slice(0, 2)) own.terminate();
    await settle();
    expect(pool.size).toBe(2);
    expect(asked).toEqual([2]);
  });

  test('also in place of one that breaks under a connection', async () => {
    dialled(3);
    const [client] = come(1);
    asked = [];
    clock.advance(LIMITS.dialTimeoutMs);
    const ends: string[] = [];
    client!.connection!.whenClosed((end) => ends.push(end));
    channels.at(-1)!.own.terminate();
    await settle();
    expect(ends).toEqual(['channel_lost']);
    expect(asked).toEqual([2]);
  });

  test('as soon as the agent is there again', () => {
    isAgentThere = false;
    const clients = come(1);
    isAgentThere = true;
    clients.push(...come(1));
    expect(asked).toEqual([2 + LIMITS.warmChannels]);
    dialled(2);
    expect(served(clients)).toEqual([true, true]);
  });
});

describe('those who wait', () => {
  test('are served in the order of their coming', () => {
    const clients = come(3);
    for (let n = 1; n <= 3; n += 1) {
      dialled(1);
      expect(served(clients)).toEqual([0, 1, 2].map((index) => index < n));
    }
  });

  test('get the channels that others leave', async () => {
    dialled(1);
    const [first, second] = come(2);
    expect(served([second!])).toEqual([false]);
    await first!.leave();
    expect(served([second!])).toEqual([true]);
  });

  test('give up after their time, once', () => {
    const [client] = come(1);
    clock.advance(LIMITS.channelWaitMs - 1);
    expect(client!.hasGivenUp).toBe(false);
    clock.advance(1);
    expect(client!.hasGivenUp).toBe(true);
    dialled(1);
    expect(served([client!])).toEqual([false]);
    expect(pool.freeCount).toBe(1);
  });

  test('and have gone get no channel', () => {
    const [gone, next] = come(2);
    pool.cancel(gone!);
    dialled(1);
    expect(served([gone!, next!])).toEqual([false, true]);
    clock.advance(LIMITS.channelWaitMs);
    expect(gone!.hasGivenUp).toBe(false);
  });

  test('are rejected when the forward ends', () => {
    const [client] = come(1);
    pool.close('the forward is over');
    expect(client!.hasGivenUp).toBe(true);
    dialled(1);
    expect(channels[0]!.own.closeCode).toBe(1000);
    expect(pool.size).toBe(0);
  });
});

describe('the number of channels follows the busiest moment of the last period', () => {
  /** A burst of so many, and all that was asked for has come. */
  async function burst(count: number): Promise<void> {
    const clients = come(count);
    dialled(count + LIMITS.warmChannels - pool.size);
    expect(served(clients)).not.toContain(false);
    await leave(clients);
  }

  test('what a burst took is still there for the next one', async () => {
    await burst(20);
    clock.advance(LIMITS.idlePeriodMs);
    await settle();
    expect(pool.freeCount).toBe(24);
    expect(served(come(20))).not.toContain(false);
  });

  test('and closed after a period without clients', async () => {
    await burst(20);
    clock.advance(2 * LIMITS.idlePeriodMs);
    await settle();
    expect(pool.size).toBe(LIMITS.warmChannels);
    expect(channels.filter(({ side }) => !side.closed)).toHaveLength(LIMITS.warmChannels);
  });

  test('or down to what the few who came needed', async () => {
    await burst(20);
    clock.advance(LIMITS.idlePeriodMs);
    await burst(6);
    clock.advance(LIMITS.idlePeriodMs);
    await settle();
    expect(pool.size).toBe(6 + LIMITS.warmChannels);
  });

  test('and to one after two minutes without a client, until the next one comes', async () => {
    await burst(2);
    // A pause at most a period longer than two minutes.
    for (let passed = 0; passed <= RESTS_AFTER_MS + LIMITS.idlePeriodMs; passed += LIMITS.idlePeriodMs) clock.advance(LIMITS.idlePeriodMs);
    await settle();
    expect(pool.freeCount).toBe(1);
    asked = [];
    const clients = come(1);
    expect(served(clients)).toEqual([true]);
    expect(asked).toEqual([LIMITS.warmChannels]);
    dialled(LIMITS.warmChannels);
    await leave(clients);
    clock.advance(RESTS_AFTER_MS - LIMITS.idlePeriodMs);
    await settle();
    expect(pool.freeCount).toBeGreaterThanOrEqual(LIMITS.warmChannels);
  });

  test('while those that are carrying something stay', async () => {
    const clients = come(10);
    dialled(14);
    clock.advance(3 * LIMITS.idlePeriodMs);
    await settle();
    expect(pool.size).toBe(14);
    expect(clients.filter(({ connection }) => connection!.ended)).toEqual([]);
  });
});

describe('after a new tunnel of the agent', () => {
  test('free channels of the earlier one are closed, and busy ones continue', async () => {
    dialled(3);
    const [client] = come(1);
    pool.dropFree('the agent has a new tunnel');
    await settle();
    expect(pool.size).toBe(1);
    expect(client!.connection!.ended).toBe(false);
    const [next] = come(1);
    expect(served([next!])).toEqual([false]);
    dialled(1);
    expect(served([next!])).toEqual([true]);
    await settle();
    expect(carried()).toEqual([0, 0, 1, 1]);
  });
});
