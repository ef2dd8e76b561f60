import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import process from 'node:process';
import { describe, expect, onTestFinished, test } from 'vitest';
import { newId } from '../../server/platform/core/ids.ts';
import { insertNotices } from '../../server/platform/notices/store.ts';
import type { NewNotice } from '../../server/platform/notices/types.ts';
import { openStorage } from '../../server/platform/storage/open.ts';
import { databaseKinds } from '../harness/databases.ts';
import { followKinds } from '../harness/notifications.ts';
import { seedRouter } from '../harness/seed.ts';
import { silentLog } from '../harness/silent-log.ts';
import { WebhookReceiver } from '../harness/webhook-receiver.ts';

/** Notifications whose process is killed at each kind of step, again and again (NOTIFY: bar 7). */

const FACTS = 1000;
const PROGRAM = path.join(import.meta.dirname, '../harness/notify/pipeline-process.ts');
/** Messages of one bucket at once: so many may be on their way when the process is killed. */
const IN_FLIGHT = 4;
/** Rare steps first: routing and deciding are a few writes, sending and recording are hundreds. */
const KILLS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 25, 30, 40].flatMap((step) => [
  { step, when: 'before' as const },
  { step, when: 'after' as const },
]);
const DONE_WITHIN_MS = 240_000;

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe.each(databaseKinds())('a process that is killed at every step, on $name', (kind) => {
  test(`${FACTS} facts: none is lost, and none arrives twice under another id`, { timeout: 600_000 }, async () => {
    const database = await kind.createMigrated();
    onTestFinished(() => database.remove());
    const storage = await openStorage(database.url, { log: silentLog });
    onTestFinished(() => storage.close());
    const receiver = await WebhookReceiver.start();
    onTestFinished(() => receiver.close());
    const { teamId, routerId } = await seedRouter(storage);
    const now = Date.now();
    await followKinds(storage, teamId, ['*'], now);
    const facts = Array.from({ length: FACTS }, (_, n): NewNotice => {
      const key = `router:${n}:config`;
      return { teamId, kind: 'config.changed', phase: 'info', severity: 'info', key, recordId: newId(now), version: 1, routerId, at: now };
    });
    await storage.writes.write((tx) => insertNotices(tx, facts, now));

    const unsent = async (): Promise<number> => {
      const { count } = await storage.db
        .selectFrom('messages')
        .select((eb) => eb.fn.countAll<number>().as('count'))
        .where('state', '=', 'sent')
        .executeTakeFirstOrThrow();
      return FACTS - count;
    };
    let kills = 0;
    for (const { step, when } of [...KILLS, { step: 0, when: 'never' as const }]) {
      if ((await unsent()) === 0) break;
      const child = spawn(process.execPath, [PROGRAM, database.url, `${receiver.url}/x`, String(step), when], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const ended = once(child, 'exit');
      if (when !== 'never') {
        await ended;
        expect(child.signalCode).toBe('SIGKILL');
        kills += 1;
        continue;
      }
      for (const end = Date.now() + DONE_WITHIN_MS; (await unsent()) > 0 && Date.now() < end;) await wait(500);
      child.kill('SIGKILL');
      await ended;
    }

    expect(await unsent()).toBe(0);
    const arrived = receiver.received.map(({ headers }) => String(headers['webhook-id']));
    const threads = receiver.received.map(({ body }) => (JSON.parse(body) as { data: { thread: { id: string } } }).data.thread.id);
    // The id is the same in every attempt, so a receiver sees what it has already.
    expect(new Set(arrived).size).toBe(FACTS);
    expect(new Set(threads).size).toBe(FACTS);
    expect(arrived.length - FACTS).toBeLessThanOrEqual(kills * IN_FLIGHT);
    expect(kills).toBeGreaterThan(20);
    process.stdout.write(`${kind.name}: ${kills} kills, ${arrived.length - FACTS} repeated of ${FACTS}\n`);
  });
});
