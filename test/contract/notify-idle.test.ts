import { expect, test } from 'vitest';
import { MessagesService } from '../../server/outbound/notifications/messages/service.ts';
import { ThreadsService } from '../../server/outbound/notifications/threads/service.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { FaultFacts } from '../harness/fault-facts.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { followKinds } from '../harness/notifications.ts';
import { NotifyBench, seedPerson } from '../harness/notify-bench.ts';
import { seedRouter } from '../harness/seed.ts';
import { silentLog } from '../harness/silent-log.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const START = Date.parse('2026-01-05T12:00:00Z');

/** Counts what is asked of a database. */
function counted(storage: Storage): { storage: Storage; count: () => { queries: number; writes: number } } {
  const seen = { queries: 0, writes: 0 };
  const db = storage.db.withPlugin({
    transformQuery: ({ node }) => {
      seen.queries += 1;
      return node;
    },
    transformResult: async ({ result }) => result,
  });
  const write: Storage['writes']['write'] = (work) => {
    seen.writes += 1;
    return storage.writes.write(work);
  };
  return { storage: { ...storage, db, writes: { write } }, count: () => ({ ...seen }) };
}

describeEachDatabase('the notifier of a quiet fleet', (open) => {
  test('looks every 30 seconds and asks nothing in between; it writes nothing', async () => {
    const storage = await open();
    const clock = new ManualClock(START);
    const { teamId, routerId } = await seedRouter(storage);
    const group = await followKinds(storage, teamId, ['*']);
    await seedPerson(storage, teamId, 'ada@example.net', group);
    // A past that is over, and an outage that goes on and was told.
    const bench = new NotifyBench(storage, clock);
    const facts = new FaultFacts(storage, clock, bench, teamId);
    await facts.happen(facts.fault('open', routerId, 'high_cpu', 'warning'));
    await facts.happen(facts.fault('open', routerId, 'wan_down', 'warning'));
    await bench.pass(MINUTE);
    await facts.happen(facts.fault('resolve', routerId, 'wan_down'));
    await bench.pass(3 * 60 * MINUTE);
    expect(bench.server.mails).toHaveLength(3);
    await bench.messages.stop();

    const watched = counted(storage);
    const deps = { storage: watched.storage, clock, log: silentLog };
    const messages = new MessagesService({
      ...deps,
      addresses: { plan: never, open: never, otherWay: never, switchOff: never, followChat: never },
      channels: {},
      links: { acknowledgeUrl: () => '' },
      publicUrl: 'https://signalbox.example',
    });
    let looks = 0;
    const threads = new ThreadsService({
      ...deps,
      rules: { afterAgentMs: MINUTE },
      campaignOf: () => undefined,
      writeMessages: never,
      digests: messages.digests,
      onMessages: () => {
        looks += 1;
        messages.wake();
      },
    });
    threads.start();
    /** One second of the clock, and what it starts. */
    const second = async (): Promise<void> => {
      clock.advance(SECOND);
      for (let n = 0; n < 20; n += 1) await new Promise((resolve) => setTimeout(resolve, 1));
      await messages.idle();
    };
    for (let n = 0; n < 5; n += 1) await second();
    const before = watched.count();
    const looksBefore = looks;
    let busy = 0;
    // Less than the ten minutes after which ends are looked for that no notice told.
    for (let n = 0; n < 300; n += 1) {
      const { queries } = watched.count();
      await second();
      if (watched.count().queries > queries) busy += 1;
    }
    const after = watched.count();
    expect(looks - looksBefore).toBeGreaterThanOrEqual(9);
    expect(looks - looksBefore).toBeLessThanOrEqual(11);
    expect(after.writes).toBe(before.writes);
    // A look of each of the two, and nothing in the seconds between; a slow database answers in the next one.
    expect(busy).toBeLessThanOrEqual(44);
    expect(after.queries - before.queries).toBeLessThanOrEqual((looks - looksBefore + 1) * 14);
    await threads.stop();
    await messages.stop();
  });
});

function never(): never {
  throw new Error('nothing happens');
}
