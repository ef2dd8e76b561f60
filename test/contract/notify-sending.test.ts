import { beforeEach, expect, test, vi } from 'vitest';
import { newId } from '../../server/platform/core/ids.ts';
import type { NewNotice } from '../../server/platform/notices/types.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { followKinds } from '../harness/notifications.ts';
import { NotifyBench, seedPerson } from '../harness/notify-bench.ts';
import { seedRouter } from '../harness/seed.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const START = Date.parse('2026-01-05T12:00:00Z');

describeEachDatabase('the sender of notifications', (open, kind) => {
  let storage: Storage;
  let clock: ManualClock;
  let teamId: string;
  let group: string;
  let bench: NotifyBench;

  beforeEach(async () => {
    storage = await open();
    clock = new ManualClock(START);
    ({ teamId } = await seedRouter(storage));
    bench = new NotifyBench(storage, clock);
    group = await followKinds(storage, teamId, ['*']);
    for (let n = 0; n < 12; n += 1) await seedPerson(storage, teamId, `ada${n}@example.net`, group);
  });

  const offline = (router: number): NewNotice => ({
    teamId,
    kind: 'fault.router_offline',
    phase: 'open',
    severity: 'critical',
    key: `router:${router}:router_offline`,
    recordId: newId(clock.now()),
    version: 1,
    routerId: `router ${router}`,
    at: clock.now(),
  });

  test('what is in a storm is read once for all who are told of it, and again for a later attempt', async () => {
    await bench.facts(Array.from({ length: 20 }, (_, n) => offline(n)));
    bench.server.answer = (_message, to) =>
      to.startsWith('ada0') ? { outcome: 'retry', error: 'unavailable', detail: '' } : { outcome: 'sent' };
    const reads = vi.spyOn(storage.db, 'selectFrom');
    const readsOfItems = (): number => reads.mock.calls.filter(([table]) => (table as unknown) === 'thread_items').length;
    await bench.pass(3 * SECOND);
    expect(bench.server.mails).toHaveLength(11);
    const first = readsOfItems();
    await bench.pass(6 * SECOND);
    reads.mockRestore();
    expect(bench.server.asked).toHaveLength(13);
    expect(first).toBe(1);
  });

  test('an account that the provider refuses is tried by one message after each pause, and all follow once it works', async () => {
    bench.server.answer = () => ({ outcome: 'config', error: 'unauthorized', detail: '535 5.7.8 Authentication failed' });
    await bench.facts([offline(1)]);
    await bench.pass(MINUTE);
    const first = bench.server.asked.length;
    await bench.pass(20 * MINUTE);
    // A pause takes five minutes.
    expect(bench.server.asked.length - first).toBe(4);
    bench.restart();
    bench.server.answer = () => ({ outcome: 'sent' });
    await bench.pass(5 * MINUTE);
    expect(bench.server.mails).toHaveLength(12);
    const [probe, ...others] = bench.server.mails.map(({ at }) => at);
    for (const at of others) expect(at - probe!).toBeLessThanOrEqual(10 * SECOND);
  });

  test.skipIf(kind.name !== 'PostgreSQL')('a claim does not wait for a transaction that waits for it', async () => {
    await bench.facts([offline(1)]);
    bench.server.limits = { perSecond: 1, burst: 1 };
    // Decided, and not sent yet.
    clock.advance(3 * SECOND);
    await bench.threads.run();
    clock.advance(3 * SECOND);
    await bench.threads.run();
    const ids = (await bench.log()).map(({ id }) => id);
    expect(ids).toHaveLength(12);
    const touch = (tx: Parameters<Parameters<Storage['writes']['write']>[0]>[0], id: string) =>
      tx
        .updateTable('messages')
        .set((eb) => ({ state: eb.ref('state') }))
        .where('id', '=', id)
        .execute();
    let goOn = (): void => undefined;
    const gate = new Promise<void>((resolve) => (goOn = resolve));
    let hold = (): void => undefined;
    const held = new Promise<void>((resolve) => (hold = resolve));
    // As many as the sender takes at once.
    const taken = ids.toSorted().slice(0, 4);
    const other = storage.writes.write(async (tx) => {
      // The last one first: the sender begins with the first.
      await touch(tx, taken.at(-1)!);
      hold();
      await gate;
      for (const id of taken) await touch(tx, id);
    });
    await held;
    bench.messages.wake();
    // It takes what it gets, and leaves the last one to the other transaction.
    try {
      await vi.waitFor(() => expect(bench.server.mails).toHaveLength(1), { timeout: 3000 });
    } finally {
      goOn();
    }
    await expect(other).resolves.toBeUndefined();
    await bench.messages.idle();
    await bench.pass(MINUTE);
    expect(bench.server.mails).toHaveLength(12);
  });
});
