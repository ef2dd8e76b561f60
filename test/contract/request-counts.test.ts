import fc from 'fast-check';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { SharedTeamRequests } from '../../server/platform/http/team-requests.ts';
import { SharedCounts } from '../../server/platform/request-counts/shared-counts.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { openStorage } from '../../server/platform/storage/open.ts';
import { databaseKinds } from '../harness/databases.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { silentLog } from '../harness/silent-log.ts';

const WINDOW_MS = 60_000;
const kind = databaseKinds().find(({ name }) => name !== 'SQLite')!;

describe('requests that several control planes count in PostgreSQL', () => {
  let closers: (() => Promise<void>)[];
  let storage: Storage;
  /** That of the database and of the three processes. */
  let clock: ManualClock;

  beforeEach(async () => {
    const database = await kind.createMigrated();
    storage = await openStorage(database.url, { log: silentLog });
    clock = new ManualClock();
    await sql`create table test_clock (at bigint not null)`.execute(storage.db);
    await sql`insert into test_clock (at) values (0)`.execute(storage.db);
    closers = [() => database.remove(), () => storage.close()];
  });
  afterEach(async () => {
    for (const close of closers.toReversed()) await close();
  });

  function control({ isReal = false, isSweeper = false, windowMs = WINDOW_MS } = {}): SharedCounts {
    const databaseNow = isReal ? {} : { databaseNow: sql<number>`(select at from test_clock)` };
    const counts = new SharedCounts({
      storage,
      clock: isReal ? { monotonic: () => performance.now(), setTimeout: (run, ms) => clock.setTimeout(run, ms) } : clock,
      log: silentLog,
      isSweeper: () => isSweeper,
      windowMs,
      ...databaseNow,
    });
    closers.push(() => counts.stop());
    return counts;
  }

  async function advance(ms: number): Promise<void> {
    await sql`update test_clock set at = at + ${ms * 1000}::bigint`.execute(storage.db);
    clock.advance(ms);
  }

  const rows = async (): Promise<number> =>
    (await sql<{ count: number }>`select count(*) as count from request_counts`.execute(storage.db)).rows[0]!.count;

  const step = fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({
        takes: fc.array(fc.record({ at: fc.nat(2), key: fc.constantFrom('a', 'b') }), { minLength: 1, maxLength: 8 }),
      }),
    },
    { weight: 3, arbitrary: fc.record({ advanceMs: fc.constantFrom(1, 900, 1000, 4000, 17_000, 59_999, 60_000) }) },
    { weight: 2, arbitrary: fc.record({ givesBackAt: fc.nat(2) }) },
  );
  type Step = { takes: { at: number; key: string }[] } | { advanceMs: number } | { givesBackAt: number };

  interface Granted {
    at: number;
    key: string;
    node: number;
  }

  /** Plays the steps on three control planes. `times` repeats each take. Says after each how many were granted, and how many there was room for. */
  async function play(
    steps: readonly Step[],
    most: number,
    times: number,
    check: (granted: number, room: number, hasGivenBack: boolean) => void,
  ) {
    const scope = `run ${Math.random()}`;
    const nodes = [control(), control(), control()].map((counts) => counts.of(scope));
    let granted: Granted[] = [];
    let hasGivenBack = false;
    const live = (key: string): number => granted.filter((one) => one.key === key && one.at > clock.monotonic() - WINDOW_MS).length;
    for (const each of steps) {
      if ('advanceMs' in each) await advance(each.advanceMs);
      else if ('givesBackAt' in each) {
        const last = granted.findLast(({ node }) => node === each.givesBackAt);
        if (!last) continue;
        nodes[last.node]!.giveBack(last.key, last.at);
        granted = granted.filter((one) => one !== last);
        hasGivenBack = true;
      } else {
        const room = { a: most - live('a'), b: most - live('b') };
        const asked = each.takes.flatMap((take) => Array.from({ length: times }, () => take));
        const counts = await Promise.all(asked.map(async ({ at, key }) => nodes[at]!.take(key, most)));
        const before = granted.length;
        for (const [index, { current }] of counts.entries()) {
          if (current <= most) granted.push({ at: clock.monotonic(), key: asked[index]!.key, node: asked[index]!.at });
        }
        for (const key of ['a', 'b'] as const) {
          const wanted = asked.filter((take) => take.key === key).length;
          const got = granted.slice(before).filter((one) => one.key === key).length;
          expect(live(key)).toBeLessThanOrEqual(most);
          check(got, Math.min(wanted, room[key]), hasGivenBack);
        }
      }
    }
  }

  test('never more than the limit in any window, and never fewer than there is room for, however they interleave', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 30 }), fc.integer({ min: 1, max: 9 }), async (steps, most) => {
        await play(steps, most, 1, (granted, room, hasGivenBack) => {
          // What was given back while it was on its way may leave its room a little later.
          if (!hasGivenBack) expect(granted).toBe(room);
        });
      }),
      { numRuns: 8 },
    );
  });

  test.each([
    ['share stamps', 130, 30],
    ['are taken in blocks', 1205, 250],
  ])('never more than a limit so high that requests %s', async (_name, most, times) => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 25 }), async (steps) => play(steps, most, times, () => undefined)),
      { numRuns: 3 },
    );
  });

  test('by the real clock of the database, 300 at once through three of them are exactly 60', async () => {
    const nodes = [control({ isReal: true }), control({ isReal: true }), control({ isReal: true })].map((counts) => counts.of('api'));
    const keys = ['one', 'two', 'three', 'four'];
    const counts = await Promise.all(
      Array.from({ length: 1200 }, async (_, n) => {
        // So that the three ask for the keys in different orders.
        const key = keys[(n % 3 === 1 ? 1199 - n : n) % 4]!;
        return { key, ...(await nodes[n % 3]!.take(key, 60)) };
      }),
    );
    for (const key of keys) {
      const allowed = counts.filter((count) => count.key === key && count.current <= 60).map(({ current }) => current);
      expect(allowed.sort((a, b) => a - b)).toEqual(Array.from({ length: 60 }, (_, n) => n + 1));
      const refused = counts.filter((count) => count.key === key && count.current > 60);
      expect(refused.every(({ ttl }) => ttl > 0 && ttl <= WINDOW_MS)).toBe(true);
    }
  });

  test('by the real clock, a key that is hammered for seconds never has more than its limit in any second', async () => {
    const most = 20;
    const nodes = [1, 2, 3].map(() => control({ isReal: true, windowMs: 1000 }).of('api'));
    const granted: { sentAt: number; receivedAt: number }[] = [];
    const until = performance.now() + 4000;
    const hammer = async (node: (typeof nodes)[number]): Promise<void> => {
      while (performance.now() < until) {
        const sentAt = performance.now();
        const { current, ttl } = await node.take('k', most);
        if (current <= most) granted.push({ sentAt, receivedAt: performance.now() });
        else await new Promise((resume) => setTimeout(resume, Math.min(ttl, 5)));
      }
    };
    await Promise.all(nodes.flatMap((node) => [hammer(node), hammer(node)]));
    // Each was counted between the moment it was sent and the moment it was answered.
    granted.sort((one, other) => one.receivedAt - other.receivedAt);
    for (let first = 0; first + most < granted.length; first += 1) {
      const many = granted.slice(first, first + most + 1);
      expect(many.at(-1)!.receivedAt - Math.min(...many.map(({ sentAt }) => sentAt))).toBeGreaterThanOrEqual(1000);
    }
    expect(granted.length).toBeGreaterThan(most);
  });

  test('a refused caller costs no statements until there may be room', async () => {
    const counts = control();
    const api = counts.of('api');
    for (let n = 0; n < 3; n += 1) await api.take('k', 3);
    await api.take('k', 3);
    await sql`delete from request_counts`.execute(storage.db);
    for (let n = 0; n < 100; n += 1) expect(await api.take('k', 3)).toEqual({ current: 4, ttl: WINDOW_MS });
    expect(await rows()).toBe(0);
    // Another one may have given a request back since.
    await advance(5000);
    expect(await api.take('k', 3)).toMatchObject({ current: 1 });
  });

  test('few statements serve a high limit', async () => {
    const api = control().of('api');
    await api.take('k', 60_000);
    await sql`delete from request_counts`.execute(storage.db);
    for (let n = 2; n <= 100; n += 1) expect(await api.take('k', 60_000)).toMatchObject({ current: n });
    expect(await rows()).toBe(0);
    await api.take('k', 60_000);
    expect(await rows()).toBe(1);
    // A block is not used for longer than a second.
    await advance(1000);
    expect(await api.take('k', 60_000)).toMatchObject({ current: 101 });
  });

  test('what is given back makes room at once, also elsewhere, and what is too old does not', async () => {
    const [one, two] = [control().of('api'), control().of('api')];
    for (let n = 0; n < 3; n += 1) await one.take('k', 3);
    expect(await two.look('k', 3)).toMatchObject({ current: 3 });
    one.giveBack('k', clock.monotonic());
    await expect
      .poll(async () => (await sql<{ total: number }>`select total from request_counts`.execute(storage.db)).rows[0]!.total)
      .toBe(2);
    expect(await two.take('k', 3)).toMatchObject({ current: 3 });
    await advance(50_000);
    one.giveBack('k', 0);
    // Takes its turn after it.
    expect(await one.look('k', 3)).toMatchObject({ current: 3 });
    expect(await two.take('k', 3)).toMatchObject({ current: 4 });
  });

  test('a clock of the database that is set back locks nobody out for longer than the window', async () => {
    const api = control().of('api');
    for (let n = 0; n < 3; n += 1) await api.take('k', 3);
    await sql`update test_clock set at = at - ${2 * 3600_000_000}::bigint`.execute(storage.db);
    expect(await control().of('api').take('k', 3)).toMatchObject({ current: 4 });
    await sql`update test_clock set at = at + ${WINDOW_MS * 1000 + 1}::bigint`.execute(storage.db);
    expect(await control().of('api').take('k', 3)).toMatchObject({ current: 1 });
  });

  test('rows without a request in the window are deleted, by one of them', async () => {
    const [one, two] = [control(), control({ isSweeper: true })];
    for (const counts of [one, two]) counts.start();
    await one.of('api').take('old', 3);
    await advance(40_000);
    await one.of('api').take('young', 3);
    await advance(21_001);
    await expect.poll(rows).toBe(1);
    expect(await two.of('api').take('young', 3)).toMatchObject({ current: 2 });
  });

  test('a team has its limit with all of them together, and greedy keys leave room for an idle one', async () => {
    const teams = [control(), control(), control()].map(
      (counts) => new SharedTeamRequests(2, { teams: counts.of('team'), monotonic: () => clock.monotonic() }),
    );
    const principal = (id: string) => ({ kind: 'api_key', id, teamId: 'team', role: 'viewer' }) as const;
    let served = 0;
    for (let n = 0; n < 400; n += 1) if ((await teams[n % 3]!.take(principal(`key ${n}`))) === 0) served += 1;
    expect(served).toBe(300);
    expect(await teams[0]!.take(principal('another'))).toBeGreaterThan(0);
    await advance(WINDOW_MS);
    for (let n = 0; n < 400; n += 1) await teams[n % 3]!.take(principal(`greedy ${n % 2}`));
    expect(await teams[1]!.take(principal('greedy 0'))).toBeGreaterThan(0);
    expect(await teams[1]!.take(principal('idle'))).toBe(0);
  });
});
