import process from 'node:process';
import { describe, expect, onTestFinished, test } from 'vitest';
import { insertNotices } from '../../server/platform/notices/store.ts';
import { openStorage } from '../../server/platform/storage/open.ts';
import { databaseKinds } from '../harness/databases.ts';
import { followKinds } from '../harness/notifications.ts';
import { arrivalsAt, countSent, IN_FLIGHT, KILLS, manyFacts, Pipeline } from '../harness/notify/pipelines.ts';
import { seedRouter } from '../harness/seed.ts';
import { silentLog } from '../harness/silent-log.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { WebhookReceiver } from '../harness/webhook-receiver.ts';

/** Notifications whose process is killed at each kind of step, again and again (NOTIFY: bar 7). */

const FACTS = 1000;
/** A killed process's claims must not hold up the test. */
const LEASE_MS = 1500;
const DONE_WITHIN_MS = 480_000;

describe.each(databaseKinds())('a process that is killed at every step, on $name', (kind) => {
  test(`${FACTS} facts: none is lost, and none arrives twice under another id`, { timeout: 600_000 }, async () => {
    const database = await kind.createMigrated();
    onTestFinished(() => database.remove());
    const storage = await openStorage(database.url, { log: silentLog });
    onTestFinished(() => storage.close());
    const receiver = await WebhookReceiver.start();
    onTestFinished(() => receiver.close());
    const router = await seedRouter(storage);
    const now = Date.now();
    await followKinds(storage, router.teamId, ['*'], now);
    await storage.writes.write((tx) => insertNotices(tx, manyFacts(router, FACTS, now), now));

    const pipeline = new Pipeline({ databaseUrl: database.url, receiverUrl: `${receiver.url}/x`, leaseMs: LEASE_MS });
    const running = pipeline.run(KILLS);
    await Promise.race([running, waitUntil('all are sent', async () => (await countSent(storage)) === FACTS, DONE_WITHIN_MS)]);
    pipeline.stop();
    await running;

    const { requests, ids, threads } = arrivalsAt(receiver);
    expect([ids, threads]).toEqual([FACTS, FACTS]);
    expect(requests - FACTS).toBeLessThanOrEqual(pipeline.kills * IN_FLIGHT);
    expect(pipeline.kills).toBeGreaterThan(20);
    process.stdout.write(`${kind.name}: ${pipeline.kills} kills, ${requests - FACTS} repeated of ${FACTS}\n`);
  });
});
