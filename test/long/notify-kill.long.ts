import process from 'node:process';
import { describe, expect, onTestFinished, test } from 'vitest';
import { insertNotices } from '../../server/platform/notices/store.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { openStorage } from '../../server/platform/storage/open.ts';
import { databaseKinds } from '../harness/databases.ts';
import { followKinds } from '../harness/notifications.ts';
import { arrivalsAt, countSent, IN_FLIGHT, KILLS, manyFacts, Pipeline } from '../harness/notify/pipelines.ts';
import type { PipelineOptions } from '../harness/notify/pipeline-process.ts';
import { hasPostfix, startPostfix } from '../harness/notify/postfix.ts';
import { readMail } from '../harness/notify/read-mail.ts';
import { seedRouter } from '../harness/seed.ts';
import { silentLog } from '../harness/silent-log.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { WebhookReceiver } from '../harness/webhook-receiver.ts';

/** Notifications whose process is killed at each kind of step, again and again (NOTIFY: bar 7). */

const FACTS = 1000;
/** `NOTIFY_SLOWNESS` for a machine with other work: each of the processes must start. */
const SLOWNESS = Number(process.env['NOTIFY_SLOWNESS'] ?? 1);
const DONE_WITHIN_MS = 480_000 * SLOWNESS;
const OPTIONS = { timeout: 600_000 * SLOWNESS };

describe.each(databaseKinds())('a process that is killed at every step, on $name', (kind) => {
  /** @returns how often it was killed, when everything is sent */
  async function killed(options: Pick<PipelineOptions, 'to' | 'leaseMs'>): Promise<number> {
    const database = await kind.createMigrated();
    onTestFinished(() => database.remove());
    const storage: Storage = await openStorage(database.url, { log: silentLog });
    onTestFinished(() => storage.close());
    const { teamId } = await seedRouter(storage);
    const now = Date.now();
    await followKinds(storage, teamId, ['*'], now);
    await storage.writes.write((tx) => insertNotices(tx, manyFacts(teamId, FACTS, now), now));
    const pipeline = new Pipeline({ databaseUrl: database.url, ...options });
    const running = pipeline.run(KILLS);
    await Promise.race([running, waitUntil('all are sent', async () => (await countSent(storage)) === FACTS, DONE_WITHIN_MS)]);
    pipeline.stop();
    await running;
    expect(pipeline.kills).toBeGreaterThan(20);
    return pipeline.kills;
  }

  function expectFewRepeated(arrived: number, kills: number): void {
    expect(arrived - FACTS).toBeLessThanOrEqual(kills * IN_FLIGHT);
    process.stdout.write(`${kind.name}: ${kills} kills, ${arrived - FACTS} repeated of ${FACTS}\n`);
  }

  test(`${FACTS} facts: none is lost, and none arrives twice under another id`, OPTIONS, async () => {
    const receiver = await WebhookReceiver.start();
    onTestFinished(() => receiver.close());
    // A killed process's claims must not hold up the test.
    const kills = await killed({ to: { channel: 'webhook', url: `${receiver.url}/x` }, leaseMs: 1500 });
    const { requests, ids, threads } = arrivalsAt(receiver);
    expect([ids, threads]).toEqual([FACTS, FACTS]);
    expectFewRepeated(requests, kills);
  });

  test.skipIf(!hasPostfix)(`${FACTS} facts by mail: none is lost, and none arrives twice under another Message-ID`, OPTIONS, async () => {
    const postfix = await startPostfix({ mailboxes: ['ana'] });
    onTestFinished(() => postfix.close());
    const kills = await killed({ to: { channel: 'email', smtpPort: postfix.port, to: 'ana@example.com' }, leaseMs: 6000 });
    const mails = await waitUntil('Postfix has delivered what it took', async () => {
      const found = await postfix.mailsOf('ana');
      // A mail whose connection broke before its final dot never gets there.
      const log = await postfix.log();
      return found.length >= FACTS && log.split('status=sent').length === log.split('(queue active)').length ? found : undefined;
    });
    expect(new Set(mails.map((mail) => readMail(mail).headers['message-id'])).size).toBe(FACTS);
    expectFewRepeated(mails.length, kills);
  });
});
