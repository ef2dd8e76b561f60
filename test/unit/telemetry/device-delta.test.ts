import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { agentMessages } from '../../../protocol/messages/index.ts';
import type { SeenDevice } from '../../../protocol/index.ts';
import { computeDelta, deltaMessages, fullMessages } from '../../../agent/telemetry/device-delta.ts';
import type { DeviceTable } from '../../../agent/telemetry/device-table.ts';

const tableOf = (...devices: SeenDevice[]): DeviceTable => new Map(devices.map((device) => [device.mac, device]));
const A = 'AA:00:00:00:00:01';
const B = 'AA:00:00:00:00:02';
const none = new Map();

describe('the report of a change', () => {
  test('is empty when nothing has changed, however often it is read', () => {
    const table = tableOf({ mac: A, ip: '10.0.0.1', interface: 'bridge' }, { mac: B, seen_ago: 60 });
    let { reported } = computeDelta(none, table, 1000);
    for (let minute = 1; minute <= 100; minute += 1) {
      // The lease grows older with every reading.
      const later = tableOf({ mac: A, ip: '10.0.0.1', interface: 'bridge' }, { mac: B, seen_ago: 60 + minute * 60 });
      const delta = computeDelta(reported, later, 1000 + minute * 60);
      expect(deltaMessages(delta)).toEqual([]);
      ({ reported } = delta);
    }
  });

  test.each<[string, SeenDevice[], SeenDevice[], string[], string[]]>([
    ['a new device', [], [{ mac: A }], [A], []],
    ['a device that went', [{ mac: A }], [], [], [A]],
    ['another address', [{ mac: A, ip: '10.0.0.1' }], [{ mac: A, ip: '10.0.0.2' }], [A], []],
    ['another interface', [{ mac: A, interface: 'ether2' }], [{ mac: A, interface: 'wifi1' }], [A], []],
    ['a host name', [{ mac: A }], [{ mac: A, hostname: 'x' }], [A], []],
    ['a device that left but has its lease', [{ mac: A }], [{ mac: A, seen_ago: 600 }], [A], []],
    ['a device that is back', [{ mac: A, seen_ago: 600 }], [{ mac: A }], [A], []],
    ['a lease that ended', [{ mac: A, seen_ago: 600 }], [], [], []],
    ['one of two', [{ mac: A }, { mac: B }], [{ mac: A }, { mac: B, ip: '10.0.0.9' }], [B], []],
  ])('%s', (_what, before, after, changed, gone) => {
    const { reported } = computeDelta(none, tableOf(...before), 1000);
    const delta = computeDelta(reported, tableOf(...after), 1000);
    expect(delta.changed.map(({ mac }) => mac)).toEqual(changed);
    expect(delta.gone).toEqual(gone);
  });

  test('a device that is seen repeatedly is reported again every quarter of an hour', () => {
    let { reported } = computeDelta(none, tableOf({ mac: A, seen_ago: 0 }), 0);
    const times: number[] = [];
    for (let now = 60; now <= 3600; now += 60) {
      const delta = computeDelta(reported, tableOf({ mac: A, seen_ago: 0 }), now);
      if (delta.changed.length > 0) times.push(now);
      ({ reported } = delta);
    }
    expect(times).toEqual([900, 1800, 2700, 3600]);
  });
});

const device = fc.record(
  {
    mac: fc.integer({ min: 0, max: 30 }).map((n) => `AA:00:00:00:00:${n.toString(16).padStart(2, '0').toUpperCase()}`),
    ip: fc.constantFrom('10.0.0.1', '10.0.0.2'),
    interface: fc.constantFrom('a', 'b'),
    hostname: fc.constantFrom('x', 'y'),
    seen_ago: fc.integer({ min: 0, max: 5000 }),
  },
  { requiredKeys: ['mac'] },
);
const tables = fc.array(
  fc.array(device, { maxLength: 40 }).map((devices) => tableOf(...devices)),
  { minLength: 1, maxLength: 10 },
);

test('applying the full list and then each delta gives the table, and nothing is reported twice', () => {
  fc.assert(
    fc.property(tables, (readings) => {
      const known = new Map<string, { words: string; seenAt: number | undefined }>();
      const learn = (message: { devices: SeenDevice[]; gone: string[] }, now: number): void => {
        for (const { mac, ip, interface: port, hostname, seen_ago: ago } of message.devices) {
          const after = { words: [ip, port, hostname].join(), seenAt: ago === undefined ? undefined : now - ago };
          expect(known.get(mac)).not.toEqual(after);
          known.set(mac, after);
        }
        for (const mac of message.gone) {
          expect(known.get(mac)?.seenAt).toBeUndefined();
          expect(known.delete(mac)).toBe(true);
        }
      };
      let reported = computeDelta(none, readings[0]!, 0).reported;
      for (const message of fullMessages(readings[0]!)) learn(message, 0);
      for (const [index, table] of readings.slice(1).entries()) {
        const now = (index + 1) * 60;
        const delta = computeDelta(reported, table, now);
        for (const message of deltaMessages(delta)) learn(message, now);
        ({ reported } = delta);
        for (const { mac, ip, interface: port, hostname, seen_ago: ago } of table.values()) {
          const seen = known.get(mac)!;
          expect(seen.words).toBe([ip, port, hostname].join());
          expect(seen.seenAt === undefined).toBe(ago === undefined);
          // At most a quarter of an hour behind; an earlier time is not reported.
          if (seen.seenAt !== undefined) expect(now - ago! - seen.seenAt).toBeLessThan(900);
        }
        const there = [...known].filter(([, { seenAt }]) => seenAt === undefined).map(([mac]) => mac);
        expect(there.every((mac) => table.has(mac))).toBe(true);
      }
    }),
  );
});

describe('messages', () => {
  const many = (count: number): DeviceTable =>
    tableOf(
      ...Array.from({ length: count }, (_, index) => ({
        mac: `00:1B:C5:00:${(index >> 8).toString(16).padStart(2, '0').toUpperCase()}:${(index & 255).toString(16).padStart(2, '0').toUpperCase()}`,
        ip: `10.0.${index >> 8}.${index & 255}`,
        interface: 'bridge',
        hostname: `host-${index}`,
      })),
    );

  test.each([
    [0, 1],
    [1, 1],
    [500, 1],
    [501, 2],
    [5000, 10],
  ])('%i devices are reported in %i', (count, messages) => {
    const full = fullMessages(many(count));
    expect(full).toHaveLength(messages);
    expect(full.map(({ first }) => first)).toEqual(full.map((_, index) => index === 0));
    expect(full.map(({ last }) => last)).toEqual(full.map((_, index) => index === messages - 1));
    expect(full.flatMap(({ devices }) => devices)).toHaveLength(count);
    for (const message of full) {
      const parsed = agentMessages.devices.safeParse({ type: 'devices', router: 'r', ...message });
      expect(parsed.success).toBe(true);
    }
  });

  test('5,000 devices take half a megabyte once, a change of one takes very little', () => {
    const table = many(5000);
    expect(JSON.stringify(fullMessages(table)).length).toBeLessThan(600_000);
    const { reported } = computeDelta(none, table, 0);
    const changed = new Map(table).set(A, { mac: A, ip: '10.0.0.1' });
    expect(JSON.stringify(deltaMessages(computeDelta(reported, changed, 60))).length).toBeLessThan(200);
  });
});
