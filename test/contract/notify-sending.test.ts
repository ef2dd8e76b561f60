import { beforeEach, expect, test, vi } from 'vitest';
import { newId } from '../../server/platform/core/ids.ts';
import type { AddressBook } from '../../server/outbound/notifications/messages/addresses.ts';
import { DEFAULT_SENDER_RULES } from '../../server/outbound/notifications/messages/types.ts';
import type { NewNotice } from '../../server/platform/notices/types.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { followKinds } from '../harness/notifications.ts';
import { NotifyBench, accountAddresses, seedPerson } from '../harness/notify-bench.ts';
import { seedRouter } from '../harness/seed.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
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

  const REFUSED = { outcome: 'config', error: 'unauthorized', detail: '535 5.7.8 Authentication failed' } as const;
  const probing = async (): Promise<number | null> =>
    (await storage.db.selectFrom('send_buckets').select('probing_until').where('key', '=', 'email').executeTakeFirstOrThrow())
      .probing_until;

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

  test('what becomes of each message is counted, and how long those that are due wait', async () => {
    const counted = (): string[] =>
      bench.messages.outcomes
        .read()
        .filter(({ value }) => value > 0)
        .map(({ labels, value }) => `${labels.channel} ${labels.outcome} ${value}`);
    bench.server.answer = (_message, to) => {
      if (to.startsWith('ada0')) return { outcome: 'retry', error: 'unavailable', detail: '' };
      return to.startsWith('ada1@') ? { outcome: 'never', error: 'address_refused', detail: '550' } : { outcome: 'sent' };
    };
    await bench.facts([offline(1)]);
    await bench.pass(MINUTE);
    const [sent, retry, failed] = counted();
    expect([sent, failed]).toEqual(['email sent 10', 'email failed 1']);
    expect(retry).toMatch(/^email retry [1-9]/);
    expect(await bench.messages.oldestDueSeconds()).toBe(0);
    await storage.db
      .updateTable('messages')
      .set({ due_at: clock.now() - 7 * SECOND })
      .where('state', '=', 'pending')
      .execute();
    expect(await bench.messages.oldestDueSeconds()).toBe(7);
  });

  test('an account that the provider refuses is tried by one message after each pause, and all follow once it works', async () => {
    bench.server.answer = () => REFUSED;
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

  test('what waits because the provider has asked for a pause says so, and expires in its time', async () => {
    let asked = 0;
    bench.server.answer = () => {
      asked += 1;
      return { outcome: 'retry', error: 'rate_limited', detail: '', retryAfterMs: 20 * HOUR };
    };
    const warning = (router: number): NewNotice => ({ ...offline(router), severity: 'warning' });
    await bench.facts([warning(1)]);
    await bench.pass(MINUTE);
    const reasons = async () => new Set((await bench.log()).map(({ state, reason }) => `${state} ${reason}`));
    expect(await reasons()).toEqual(new Set(['pending provider_wait']));
    await bench.facts([warning(2)]);
    await bench.pass(MINUTE);
    expect(await reasons()).toEqual(new Set(['pending provider_wait']));
    const before = asked;
    // Nobody confirms these faults: their ends follow, and wait as well.
    await bench.pass(13 * HOUR);
    expect(await reasons()).toEqual(new Set(['superseded null', 'failed expired']));
    expect(asked).toBe(before);
    bench.server.answer = () => ({ outcome: 'sent' });
    await bench.pass(8 * HOUR);
    await bench.facts([warning(9)]);
    await bench.pass(3 * HOUR);
    expect(bench.server.mails).toHaveLength(12);
  });

  test.each([
    ['has asked for a pause', HOUR],
    ['takes one in a while', 0],
  ])('messages to a provider that %s do not hold up those to others, however many they are', async (_why, pauseMs) => {
    await bench.facts([offline(1)]);
    await bench.pass(20 * SECOND);
    const [row] = await bench.log();
    const now = clock.now();
    const waiting = { ...row!, state: 'pending', due_at: now, expires_at: now + HOUR, bucket: 'slow' };
    const rows = Array.from({ length: 100 }, (_, n) => ({ ...waiting, id: newId(now), recipient_id: `nobody ${n}` }));
    await storage.db.insertInto('messages').values(rows).execute();
    await storage.db
      .insertInto('send_buckets')
      .values({ key: 'slow', tokens: -100, at: now, stopped_until: pauseMs > 0 ? now + pauseMs : null })
      .execute();
    const sent = bench.server.mails.length;
    await bench.facts([offline(2)]);
    await bench.pass(4 * SECOND);
    expect(bench.server.mails.length - sent).toBe(12);
    expect(await storage.db.selectFrom('messages').select('id').where('due_at', '<=', clock.now()).execute()).toEqual([]);
  });

  test('messages that have expired do not try a refused account in the place of those that can be sent', async () => {
    bench.server.answer = () => REFUSED;
    await bench.facts([offline(1)]);
    await bench.pass(MINUTE);
    clock.advance(7 * HOUR);
    const refused = bench.server.asked.length;
    await bench.facts([offline(2)]);
    await bench.pass(20 * SECOND);
    expect((await bench.log()).filter(({ reason }) => reason === 'expired')).toHaveLength(12);
    expect(bench.server.asked.length - refused, 'one request, and the next after the pause').toBe(1);
    bench.server.answer = () => ({ outcome: 'sent' });
    await bench.pass(5 * MINUTE);
    expect(bench.server.mails.length).toBeGreaterThanOrEqual(12);
  });

  test('a message that has expired does not end the attempt of another', async () => {
    bench.server.answer = () => REFUSED;
    await bench.facts([offline(1)]);
    await bench.pass(MINUTE);
    let answer = (): void => undefined;
    const answered = new Promise<void>((resolve) => (answer = resolve));
    const send = bench.server.send.bind(bench.server);
    bench.server.send = async (...sent) => {
      const result = await send(...sent);
      await answered;
      return result;
    };
    clock.advance(5 * MINUTE);
    const refused = bench.server.asked.length;
    bench.messages.wake();
    try {
      await vi.waitFor(() => expect(bench.server.asked.length - refused).toBe(1));
      const other = (await bench.log()).find(({ claim }) => claim === null);
      await storage.db.updateTable('messages').set({ due_at: START, expires_at: START }).where('id', '=', other!.id).execute();
      bench.messages.wake();
      await vi.waitFor(async () => expect((await bench.log()).map(({ reason }) => reason)).toContain('expired'));
      expect(await probing()).toBe(clock.now() + MINUTE);
    } finally {
      answer();
    }
    await bench.messages.idle();
  });

  /** What becomes of a message before its provider is asked. */
  const WITHOUT_REQUEST: Record<string, (...asked: Parameters<AddressBook['open']>) => ReturnType<AddressBook['open']>> = {
    withheld: async () => ({ reason: 'no_address' }),
    held: async (...asked) => {
      const hours = { from: 0, to: 23 * 60, criticalBreaksThrough: false };
      return { ...(await accountAddresses.open(...asked)), quiet: { hours, timeZone: 'UTC' } };
    },
    gone: async (...asked) => {
      const opened = await accountAddresses.open(...asked);
      const claimed = storage.db.selectFrom('messages').select('thread_id').where('claim', 'is not', null);
      await storage.db.deleteFrom('threads').where('id', 'in', claimed).execute();
      return opened;
    },
  };

  test.each(Object.keys(WITHOUT_REQUEST))('a message that is %s leaves the attempt at a refused account to the next one', async (name) => {
    let at: number | undefined;
    let isDone = true;
    bench = new NotifyBench(storage, clock, {
      ...accountAddresses,
      open: (...asked) => {
        if (isDone) return accountAddresses.open(...asked);
        isDone = true;
        at = clock.now();
        return WITHOUT_REQUEST[name]!(...asked);
      },
    });
    bench.server.answer = () => REFUSED;
    await bench.facts([offline(1), offline(2)]);
    await bench.pass(MINUTE);
    bench.server.answer = () => ({ outcome: 'sent' });
    isDone = false;
    await bench.pass(5 * MINUTE);
    expect(bench.server.mails[0]!.at - at!).toBeLessThanOrEqual(5 * SECOND);
  });

  test('messages that are not to be sent do not keep the others of a refused account waiting, however many they are', async () => {
    let isRefused = true;
    const asked: number[] = [];
    bench = new NotifyBench(storage, clock, {
      ...accountAddresses,
      open: async (...args) => {
        if (isRefused) return accountAddresses.open(...args);
        asked.push(clock.now());
        return asked.length < 24 ? { reason: 'no_address' } : accountAddresses.open(...args);
      },
    });
    bench.server.answer = () => REFUSED;
    await bench.facts([offline(1), offline(2)]);
    await bench.pass(MINUTE);
    bench.server.answer = () => ({ outcome: 'sent' });
    isRefused = false;
    await bench.pass(6 * MINUTE);
    expect(asked).toHaveLength(24);
    expect(bench.server.mails).toHaveLength(1);
    expect(bench.server.mails[0]!.at - asked[0]!).toBeLessThanOrEqual(5 * SECOND);
  });

  /** What another process does with messages between the look at them and the claim. */
  const MEANWHILE: Record<string, () => { claim?: string; claimed_until?: number; due_at?: number }> = {
    claimed: () => ({ claim: 'another', claimed_until: clock.now() + MINUTE }),
    postponed: () => ({ due_at: clock.now() + MINUTE }),
  };

  test.each(Object.keys(MEANWHILE))('messages that another process has %s meanwhile do not try a refused account', async (name) => {
    let isFirst = true;
    const late: Storage = {
      ...storage,
      writes: {
        write: async (work) => {
          if (isFirst) await storage.db.updateTable('messages').set(MEANWHILE[name]!()).execute();
          isFirst = false;
          return storage.writes.write(work);
        },
      },
    };
    bench.server.answer = () => REFUSED;
    await bench.facts([offline(1)]);
    await bench.pass(MINUTE);
    bench.restart(late);
    clock.advance(5 * MINUTE);
    expect(await probing()).toBe(0);
    bench.messages.wake();
    await bench.messages.idle();
    expect(isFirst).toBe(false);
    expect(await probing()).toBe(0);
  });

  test('an attempt that ends with its process leaves the refused account to the next one', async () => {
    bench.server.answer = () => REFUSED;
    await bench.facts([offline(1)]);
    await bench.pass(MINUTE);
    bench.restart(storage, { ...DEFAULT_SENDER_RULES, stopWithinMs: 1 });
    const send = vi.spyOn(bench.server, 'send').mockImplementation(async (_message, _address, signal) => {
      await new Promise((resolve) => signal!.addEventListener('abort', resolve));
      return { outcome: 'stopped' };
    });
    clock.advance(5 * MINUTE);
    bench.messages.wake();
    await vi.waitFor(() => expect(send).toHaveBeenCalledTimes(1));
    expect(await probing()).toBe(clock.now() + MINUTE);
    await bench.messages.stop();
    expect(await probing()).toBe(0);
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
