import process from 'node:process';
import { describe, expect, onTestFinished, test } from 'vitest';
import { insertNotices } from '../../server/platform/notices/store.ts';
import { openStorage } from '../../server/platform/storage/open.ts';
import { databaseKinds } from '../harness/databases.ts';
import { followKinds } from '../harness/notifications.ts';
import { NotifyInstances } from '../harness/notify/instances.ts';
import { arrivalsAt, countSent, IN_FLIGHT, KILLS, manyFacts, Pipeline } from '../harness/notify/pipelines.ts';
import { seedRouter } from '../harness/seed.ts';
import { silentLog } from '../harness/silent-log.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { WebhookReceiver } from '../harness/webhook-receiver.ts';

/** Several processes that tell the facts of one PostgreSQL (NOTIFY: bar 8). */

const FACTS = 1000;
/** A few at a time, so that every process has something to decide. */
const FACTS_AT_ONCE = 25;
const DONE_WITHIN_MS = 480_000;
const OPTIONS = { timeout: 600_000 };

const postgres = databaseKinds().find(({ name }) => name === 'PostgreSQL');

describe.skipIf(!postgres)('several processes on one PostgreSQL', () => {
  async function start(count: number, leaseMs: number) {
    const database = await postgres!.createMigrated();
    onTestFinished(() => database.remove());
    const storage = await openStorage(database.url, { log: silentLog });
    onTestFinished(() => storage.close());
    const receiver = await WebhookReceiver.start();
    onTestFinished(() => receiver.close());
    const to = { channel: 'webhook' as const, url: `${receiver.url}/x` };
    const options = { databaseUrl: database.url, to, leaseMs };
    const pipelines = Array.from({ length: count }, () => new Pipeline(options));
    const router = await seedRouter(storage);
    await followKinds(storage, router.teamId, ['*'], Date.now());
    return { storage, receiver, pipelines, router };
  }

  async function tellAll(
    { storage, pipelines, router }: Awaited<ReturnType<typeof start>>,
    kills: readonly (typeof KILLS)[],
  ): Promise<void> {
    const running = Promise.all(pipelines.map((pipeline, index) => pipeline.run(kills[index] ?? [])));
    const telling = async (): Promise<void> => {
      const facts = manyFacts(router.teamId, FACTS, Date.now());
      for (let n = 0; n < FACTS; n += FACTS_AT_ONCE)
        await storage.writes.write((tx) => insertNotices(tx, facts.slice(n, n + FACTS_AT_ONCE), Date.now()));
      await waitUntil('all are sent', async () => (await countSent(storage)) === FACTS, DONE_WITHIN_MS);
    };
    await Promise.race([running, telling()]);
    for (const pipeline of pipelines) pipeline.stop();
    await running;
  }

  test.each([2, 3])('%i processes: none of the facts is lost, and none arrives twice', OPTIONS, async (count) => {
    // As in the product: nobody takes what a living process has claimed.
    const set = await start(count, 60_000);
    await tellAll(set, []);
    expect(arrivalsAt(set.receiver)).toEqual({ requests: FACTS, ids: FACTS, threads: FACTS });
  });

  test.each([2, 3])(
    '%i processes that are killed at every step: none is lost, and none arrives under another id',
    OPTIONS,
    async (count) => {
      const set = await start(count, 6000);
      // Each step is that of one of them, so that the others are in the middle of something else.
      const kills = set.pipelines.map((_, index) => KILLS.filter((_kill, n) => n % count === index));
      await tellAll(set, kills);
      const { requests, ids, threads } = arrivalsAt(set.receiver);
      expect([ids, threads]).toEqual([FACTS, FACTS]);
      const killed = set.pipelines.reduce((sum, pipeline) => sum + pipeline.kills, 0);
      expect(requests - FACTS).toBeLessThanOrEqual(killed * IN_FLIGHT);
      expect(killed).toBeGreaterThan(20);
      process.stdout.write(`${count} processes: ${killed} kills, ${requests - FACTS} repeated of ${FACTS}\n`);
    },
  );

  test.each([2, 3])('%i whole control planes: none of the facts is lost, and none arrives twice', OPTIONS, async (count) => {
    const database = await postgres!.createMigrated();
    onTestFinished(() => database.remove());
    const instances = await NotifyInstances.start({ databaseUrl: database.url, count, teams: 10 });
    onTestFinished(() => instances.close());
    await instances.tell(FACTS / 10);
    await waitUntil('all are sent', async () => (await instances.countSent()) === FACTS, DONE_WITHIN_MS);
    expect(arrivalsAt(instances.receiver)).toEqual({ requests: FACTS, ids: FACTS, threads: FACTS });
  });
});
