import { describe, expect, it } from 'vitest';
import { AppError } from '../../../server/platform/core/errors.ts';
import { RecordWriter } from '../../../server/platform/core/record-writer.ts';
import { ManualClock } from '../../harness/manual-clock.ts';
import { RecordedLog } from '../../harness/recorded-log.ts';
import { settle } from '../../harness/tunnel-bench.ts';

interface Row {
  id: string;
  value: number;
}

function setUp(most = 100) {
  const stored = new Map<string, number>();
  const database = { isAway: false, writes: 0, gate: Promise.resolve() };
  const [clock, log] = [new ManualClock(), new RecordedLog()];
  let refused = 0;
  const writer = new RecordWriter<Row>({
    clock,
    log,
    counters: { refuseRows: (_kind, count) => void (refused += count) },
    kind: 'sessions',
    most,
    upsert: async (rows) => {
      database.writes += 1;
      await database.gate;
      if (database.isAway) throw new AppError('unavailable', 'the database is away');
      for (const { id, value } of rows) stored.set(id, value);
    },
  });
  const put = (from: number, to: number, value = 0): void => {
    for (let n = from; n < to; n += 1) writer.put({ id: `row ${n}`, value });
  };
  return { writer, stored, database, clock, log, put, refused: () => refused };
}

describe('rows of a history', () => {
  it('are stored every two seconds, and the rest at the stop', async () => {
    const { writer, stored, clock, put } = setUp();
    writer.start();
    put(0, 2);
    clock.advance(2000);
    await settle();
    expect(stored.size).toBe(2);
    put(2, 3);
    await writer.stop();
    expect(stored.size).toBe(3);
    expect(clock.pending).toBe(0);
  });

  it('that change before they are stored are stored once, in their newest form', async () => {
    const { writer, stored, database, put } = setUp();
    put(0, 1, 1);
    put(0, 1, 2);
    await writer.flush();
    expect([database.writes, stored.get('row 0')]).toEqual([1, 2]);
  });

  it('that change while a write of theirs fails keep the newest form', async () => {
    const { writer, stored, database, put } = setUp();
    const gate = Promise.withResolvers<void>();
    Object.assign(database, { isAway: true, gate: gate.promise });
    put(0, 1, 1);
    const flushed = writer.flush();
    await settle();
    put(0, 1, 2);
    gate.resolve();
    await flushed;
    database.isAway = false;
    await writer.flush();
    expect(stored.get('row 0')).toBe(2);
  });

  it('never wait in larger numbers than allowed, however often the database fails while more come', async () => {
    const { writer, database, put, refused } = setUp(100);
    for (let round = 0; round < 5; round += 1) {
      const gate = Promise.withResolvers<void>();
      Object.assign(database, { isAway: true, gate: gate.promise });
      const flushed = writer.flush();
      await settle();
      put(round * 100, (round + 1) * 100);
      gate.resolve();
      await flushed;
      expect(writer.size).toBe(100);
    }
    expect(refused()).toBe(400);
  });

  it('lose the oldest first', async () => {
    const { writer, stored, put } = setUp(2);
    put(0, 3);
    await writer.flush();
    expect([...stored.keys()]).toEqual(['row 1', 'row 2']);
  });

  it('lose those of the party with the most, and none of another', async () => {
    const { stored, log, clock } = setUp();
    const writer = new RecordWriter<Row & { team: string }>({
      clock,
      log,
      kind: 'states',
      most: 10,
      partyOf: ({ team }) => team,
      upsert: async (rows) => rows.forEach(({ id, value }) => stored.set(id, value)),
    });
    writer.put({ id: 'quiet', team: 'quiet', value: 0 });
    for (let n = 0; n < 50; n += 1) writer.put({ id: `loud ${n}`, team: 'loud', value: n });
    await writer.flush();
    expect([stored.size, stored.has('quiet'), stored.has('loud 40'), stored.has('loud 49')]).toEqual([10, true, false, true]);
  });

  it('are tried once, not chunk by chunk, while the database is away', async () => {
    const { writer, stored, database, put } = setUp(10_000);
    database.isAway = true;
    put(0, 2600);
    await writer.flush();
    expect([database.writes, writer.size]).toEqual([1, 2600]);
    database.isAway = false;
    await writer.flush();
    expect([stored.size, writer.size]).toEqual([2600, 0]);
  });
});
