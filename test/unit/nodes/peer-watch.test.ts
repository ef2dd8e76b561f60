import { afterEach, beforeEach, expect, test } from 'vitest';
import type { AppError } from '../../../server/platform/core/errors.ts';
import { PeerWatch } from '../../../server/platform/nodes/peer-watch.ts';
import type { NodeRecord } from '../../../server/platform/nodes/store.ts';
import { MemoryBus } from '../../harness/cluster/memory-bus.ts';
import { ManualClock } from '../../harness/manual-clock.ts';
import { RecordedLog } from '../../harness/recorded-log.ts';
import { waitUntil } from '../../harness/wait-until.ts';

/** A control plane looks at the others before it does anything as one of several, and once a minute afterwards. */
let bus: MemoryBus;
let watches: PeerWatch[];
let records: NodeRecord[];
/** How often the records were read. */
let looks: number;

beforeEach(() => {
  bus = new MemoryBus();
  watches = [];
  records = [];
  looks = 0;
});
afterEach(() => Promise.all(watches.map((watch) => watch.stop())));

/** @param aheadMs of its clock */
function peer(nodeId: string, aheadMs = 0): { watch: PeerWatch; log: RecordedLog; clock: ManualClock } {
  const [clock, log] = [new ManualClock(Date.parse('2031-05-01T12:00:00Z') + aheadMs), new RecordedLog()];
  const nodes = async (): Promise<NodeRecord[]> => {
    looks += 1;
    return structuredClone(records);
  };
  const watch = new PeerWatch({ nodeId, bus: bus.connect(), clock, log, nodes });
  records.push({ id: nodeId, name: `name of ${nodeId}`, on_bus: 1, beat: 1 } as NodeRecord);
  watches.push(watch);
  return { watch, log, clock };
}

test.each([
  ['up', 'conflict'],
  ['draining', undefined],
] as const)('one with the address of another that is %s', async (state, code) => {
  peer('first');
  const { watch } = peer('second');
  for (const record of records) record.public_url = 'https://one.example';
  records[0]!.state = state;
  const error = await watch.start().then(
    () => undefined,
    (cause: AppError) => cause,
  );
  expect(error?.code).toBe(code);
  if (code) expect(error?.message).toContain('name of first serves this database at https://one.example, too');
});

test('one takes the address of another that was killed, and does not answer any more', async () => {
  const { watch } = peer('second');
  records.push({ ...records[0]!, id: 'killed', on_bus: 0 });
  for (const record of records) record.public_url = 'https://one.example';
  await watch.start();
});

const noted = (log: RecordedLog): number => log.lines.filter(({ message }) => message.startsWith('the clock of another')).length;

test.each([
  [31_000, 'ahead of'],
  [-31_000, 'behind'],
])('one whose clock is %i ms off does not start, and says whose clocks differ', async (aheadMs, how) => {
  peer('first');
  const { watch } = peer('second', aheadMs);
  await expect(watch.start()).rejects.toMatchObject({
    code: 'conflict',
    message: `the clock of this machine is 31 s ${how} that of name of first: set both by NTP, then start again`,
  });
});

test.each([
  [2500, 1],
  [1500, 0],
])('with %i ms it starts, and says so %i times', async (aheadMs, times) => {
  peer('first');
  const { watch, log } = peer('second', aheadMs);
  await watch.start();
  expect(noted(log)).toBe(times);
});

test('a clock that goes wrong is noted once, and again when it was right meanwhile', async () => {
  const first = peer('first');
  const { watch, log, clock } = peer('second');
  await watch.start();
  const lookTwice = async (): Promise<void> => {
    const before = looks;
    await waitUntil('two looks are over', () => {
      for (const one of [clock, first.clock]) one.advance(60_000);
      return looks >= before + 2;
    });
  };
  for (const times of [1, 2]) {
    first.clock.step(5000);
    await lookTwice();
    expect(noted(log)).toBe(times);
    first.clock.step(-5000);
    await lookTwice();
  }
});

test('while the bus is away nothing is known, and nothing is refused', async () => {
  peer('first');
  const { watch } = peer('second', 3_600_000);
  bus.isUp = false;
  await watch.start();
});

test('one that does not beat is dying, and nobody waits for its answer', async () => {
  records.push({ id: 'dying', name: 'dying', on_bus: 1, beat: 7 } as NodeRecord);
  const { watch } = peer('second');
  const started = watch.start();
  records = records.filter(({ id }) => id !== 'dying');
  await started;
});

test('one that beats and is on another bus is named', async () => {
  const strange = { id: 'strange', name: 'strange', on_bus: 1, beat: 1 } as NodeRecord;
  records.push(strange);
  const { watch } = peer('second');
  const beats = setInterval(() => (strange.beat += 1), 100);
  try {
    await expect(watch.start()).rejects.toMatchObject({
      code: 'conflict',
      message:
        'strange serves this database over another bus: SIGNALBOX_BUS_URL of all its control planes must lead to the same NATS servers',
    });
  } finally {
    clearInterval(beats);
  }
});
