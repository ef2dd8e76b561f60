import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { NatsBus } from '../../server/platform/bus/nats-bus.ts';
import { NatsLog } from '../../server/platform/bus/nats-log.ts';
import type { LogEntry, LogPosition } from '../../server/platform/bus/shared-log.ts';
import { systemClock } from '../../server/platform/core/clock.ts';
import { hasNats, NatsServer } from '../harness/nats-server.ts';
import { silentLog } from '../harness/silent-log.ts';
import { waitUntil } from '../harness/wait-until.ts';

const PER_TOPIC = 10;

interface Node {
  bus: NatsBus;
  log: NatsLog;
  texts: string[];
  entries: LogEntry[];
  resets: LogPosition[];
}

describe.skipIf(!hasNats())('the shared log on NATS', () => {
  let nats: NatsServer;
  let closers: (() => Promise<void>)[];

  async function start(id: string, name = 'DB', server = nats): Promise<Node> {
    const bus = NatsBus.open({
      servers: [server.url.slice('nats://'.length)],
      allowPlain: true,
      user: undefined,
      password: undefined,
      name: id,
      timers: systemClock,
      log: silentLog,
    });
    closers.push(() => bus.close());
    const deps = { name, nodeId: id, perTopic: PER_TOPIC, lostText: 'lost', clock: systemClock, log: silentLog };
    const log = new NatsLog({ ...deps, onConnection: (use) => bus.onConnection(use) });
    closers.push(() => log.stop());
    const node: Node = { bus, log, texts: [], entries: [], resets: [] };
    const take = (entry: LogEntry): void => {
      node.entries.push(entry);
      node.texts.push(entry.text);
    };
    log.follow({
      onEntry: take,
      onReset: (from, entries) => {
        node.resets.push(from);
        entries.forEach(take);
      },
    });
    await log.start();
    return node;
  }

  beforeEach(async () => {
    closers = [];
    nats = await NatsServer.start();
    closers.push(() => nats.close());
  });
  afterEach(async () => {
    for (const close of closers.toReversed()) await close();
  });

  test('has one order for all, each message once, and one that starts later reads what is kept', async () => {
    const [a, b] = [await start('a'), await start('b')];
    for (let n = 1; n <= 20; n += 1) {
      a.log.append('team', `a${n}`);
      b.log.append('team', `b${n}`);
    }
    b.log.append('other', 'b21');
    await waitUntil('all arrived', () => [a, b].every(({ texts }) => texts.length === 41));
    expect(a.entries).toEqual(b.entries);
    expect(a.entries.map(({ number }) => number)).toEqual(Array.from({ length: 41 }, (_, n) => n + 1));
    for (const from of ['a', 'b']) {
      const texts = a.entries.filter(({ topic, text }) => topic === 'team' && text.startsWith(from)).map(({ text }) => text);
      const numbers = texts.map((text) => Number(text.slice(1)));
      expect(numbers).toEqual(numbers.toSorted((x, y) => x - y));
    }
    const c = await start('c');
    expect(c.log.position).toEqual(a.log.position);
    const kept = a.entries.filter(({ topic }) => topic === 'team').slice(-PER_TOPIC);
    const others = a.entries.filter(({ topic }) => topic === 'other');
    expect(c.entries).toEqual([...kept, ...others].toSorted((x, y) => x.number - y.number));
    const apart = await start('d', 'DB2');
    expect([apart.texts, apart.log.position?.number]).toEqual([[], 0]);
  });

  test('begins anew when its server was killed, and what waited meanwhile comes then', async () => {
    const [a, b] = [await start('a'), await start('b')];
    a.log.append('team', '1');
    await waitUntil('it arrived', () => b.texts.length === 1);
    const before = b.log.position!;
    await nats.kill();
    for (const text of ['2', '3', '4']) a.log.append('team', text);
    await nats.resume();
    await waitUntil('the others arrived', () => [a, b].every(({ texts }) => texts.at(-1) === '4'));
    // The first of them may have been on its way to the killed one.
    expect(b.texts.filter((text) => text !== '1')).toEqual(['2', '3', '4']);
    expect(b.log.position!.origin).not.toBe(before.origin);
    expect(a.log.position).toEqual(b.log.position);
    expect(b.resets).toHaveLength(2);
  });

  test('goes on where it was when its server was frozen', async () => {
    const [a, b] = [await start('a'), await start('b')];
    a.log.append('team', '1');
    await waitUntil('it arrived', () => b.texts.length === 1);
    nats.freeze();
    for (const text of ['2', '3']) a.log.append('team', text);
    await waitUntil('both have given their connections up', () => !a.bus.isConnected && !b.bus.isConnected);
    b.log.append('team', '4');
    nats.unfreeze();
    await waitUntil('all arrived', () => [a, b].every(({ texts }) => texts.length === 4));
    expect(a.entries).toEqual(b.entries);
    expect(a.texts.filter((text) => text !== '4')).toEqual(['1', '2', '3']);
    expect([a.resets.length, b.resets.length]).toEqual([1, 1]);
  });

  test('says that it needs JetStream', async () => {
    const plain = await NatsServer.start(['jetstream: false']);
    closers.push(() => plain.close());
    await expect(start('a', 'DB', plain)).rejects.toThrow(/SIGNALBOX_BUS_URL.*JetStream/);
  });
});
