import { expect, test } from 'vitest';
import { KEPT_ATTEMPTS } from '../../server/outbound/notifications/messages/types.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { FaultFacts } from '../harness/fault-facts.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { followKinds } from '../harness/notifications.ts';
import { NotifyBench, seedPerson } from '../harness/notify-bench.ts';
import { seedRouter } from '../harness/seed.ts';

const SECOND = 1000;

describeEachDatabase('a receiver that asks for a second attempt each second', (open) => {
  test('does not fill the database: the newest attempts of a message are kept', async () => {
    const storage = await open();
    const clock = new ManualClock();
    const mine = await seedRouter(storage);
    await seedPerson(storage, mine.teamId, 'ada@example.net', await followKinds(storage, mine.teamId, ['*']));
    const bench = new NotifyBench(storage, clock);
    bench.server.answer = () => ({ outcome: 'retry', error: 'rate_limited', detail: '', retryAfterMs: SECOND });
    const facts = new FaultFacts(storage, clock, bench, mine.teamId);
    await facts.happen(facts.fault('open', mine.routerId));
    await bench.pass((KEPT_ATTEMPTS + 15) * SECOND);
    expect(bench.server.asked.length).toBeGreaterThan(KEPT_ATTEMPTS + 5);
    const kept = await storage.db.selectFrom('message_attempts').select('at').orderBy('at').execute();
    expect(kept.map(({ at }) => at)).toEqual(bench.server.asked.slice(-KEPT_ATTEMPTS));
  });
});
