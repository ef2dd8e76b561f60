import { beforeEach, expect, test, vi } from 'vitest';
import { GroupsService } from '../../server/outbound/notifications/groups/service.ts';
import { routeSome } from '../../server/outbound/notifications/threads/routing/route.ts';
import { ThreadsService } from '../../server/outbound/notifications/threads/service.ts';
import { newId } from '../../server/platform/core/ids.ts';
import type { NewNotice } from '../../server/platform/notices/types.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { followKinds } from '../harness/notifications.ts';
import { NotifyBench, seedPerson } from '../harness/notify-bench.ts';
import { seedRouter } from '../harness/seed.ts';
import { silentLog } from '../harness/silent-log.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const START = Date.parse('2026-01-05T12:00:00Z');

describeEachDatabase('the rounds of the notifier', (open) => {
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
    await seedPerson(storage, teamId, 'ada@example.net', group);
  });

  const offline = (phase: 'open' | 'resolve', router: number, of = teamId): NewNotice => ({
    teamId: of,
    kind: 'fault.router_offline',
    phase,
    severity: 'critical',
    key: `router:${router}:router_offline`,
    recordId: `fault ${of} ${router}`,
    version: phase === 'open' ? 1 : 2,
    routerId: `router ${router}`,
    at: clock.now(),
  });
  const many = (phase: 'open' | 'resolve', count: number) => Array.from({ length: count }, (_, n) => offline(phase, n));

  test('more threads than fit into one step are one storm, with all of them in its first message', async () => {
    await bench.facts(many('open', 1003));
    await bench.pass(4 * MINUTE);
    expect(bench.server.mails.map(({ kind, subject }) => [kind, subject.includes('1,003 routers')])).toEqual([['open', true]]);
    await bench.facts(many('resolve', 1003));
    await bench.pass(4 * MINUTE);
    expect(bench.server.mails.map(({ kind }) => kind)).toEqual(['open', 'resolve']);
  });

  test('a step of routing writes about as much for twenty groups as for one', async () => {
    for (let n = 1; n < 20; n += 1) await followKinds(storage, teamId, ['*']);
    await bench.facts(many('open', 60));
    const step = () =>
      storage.writes.write((tx) => routeSome(tx, teamId, { campaignOf: () => undefined, afterAgentMs: MINUTE }, clock.now()));
    const steps = [await step(), await step(), await step(), await step()];
    expect(steps.map(({ notices }) => notices)).toEqual([25, 25, 10, 0]);
    expect(steps.map(({ threads }) => threads)).toEqual([500, 500, 200, 0]);
    const { count } = await storage.db
      .selectFrom('threads')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    expect(count).toBe(20 * 60);
  });

  /** What a service told, by team. The text is not written. */
  function serviceOf(told: string[], over: Partial<{ storage: Storage; failing: string; onMessages: () => void }> = {}): ThreadsService {
    return new ThreadsService({
      storage: over.storage ?? storage,
      clock,
      log: silentLog,
      rules: { afterAgentMs: MINUTE },
      campaignOf: () => undefined,
      onMessages: over.onMessages ?? (() => undefined),
      digests: { teams: async () => [], readers: async () => [], make: async () => false, nextAt: async () => null },
      writeMessages: async (_tx, id) => {
        if (id === over.failing) throw new Error('the team has a record that nobody can read');
        told.push(id);
      },
    });
  }

  test('a team whose notifications cannot be decided does not hold up the others, and is tried again', async () => {
    const other = await seedRouter(storage);
    await followKinds(storage, other.teamId, ['*']);
    // Teams come in the order of their ids.
    const [first, second] = [teamId, other.teamId].toSorted() as [string, string];
    await bench.facts([offline('open', 1, first), offline('open', 2, second)]);
    const told: string[] = [];
    let messages = 0;
    const over = { failing: first, onMessages: () => (messages += 1) };
    const service = serviceOf(told, over);
    await service.run();
    clock.advance(5 * SECOND);
    await service.run();
    expect(told).toEqual([second]);
    expect(messages).toBe(2);
    over.failing = newId(1);
    clock.advance(31 * SECOND);
    await service.run();
    expect(told).toEqual([second, first]);
  });

  test('a team whose failed work went another way is forgotten: the next pass waits, and the heart beats', async () => {
    await bench.facts([offline('open', 1)]);
    const over = { failing: teamId };
    const service = serviceOf([], over);
    await service.run();
    const before = service.lookedAt;
    clock.advance(5 * SECOND);
    await service.run();
    expect(service.lookedAt).toBe(before);
    await new GroupsService({ storage, clock }).delete(teamId, group);
    clock.advance(31 * SECOND);
    service.start();
    clock.advance(SECOND);
    await vi.waitFor(() => expect(clock.pending).toBe(1));
    expect(service.lookedAt).toBe(clock.monotonic());
    clock.advance(SECOND);
    expect(clock.pending, 'the next pass waits').toBe(1);
    await service.stop();
  });

  test('what is due again as it was does not keep the process busy', async () => {
    await bench.facts([offline('open', 1)]);
    const told: string[] = [];
    await serviceOf(told).run();
    clock.advance(5 * SECOND);
    // Nothing is kept of what it writes.
    const undone: Storage = {
      ...storage,
      writes: {
        write: async (work) => {
          let result: Awaited<ReturnType<typeof work>>;
          const rollback = new Error('undone');
          await storage.writes
            .write(async (tx) => {
              result = await work(tx);
              throw rollback;
            })
            .catch((error: unknown) => {
              if (error !== rollback) throw error;
            });
          return result!;
        },
      },
    };
    await serviceOf(told, { storage: undone }).run();
    expect(told).toEqual([teamId, teamId]);
  });
});
