import { expect, test } from 'vitest';
import { recordBackup } from '../../server/work/backups/store.ts';
import { newId } from '../../server/platform/core/ids.ts';
import { insertProof } from '../../server/outbound/notifications/proofs/store.ts';
import { insertLink, insertReader } from '../../server/outbound/notifications/telegram/store.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { capPlans } from '../../server/platform/storage/move-plans.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { insertJob } from '../harness/jobs/insert-job.ts';
import { seedPerson } from '../harness/notify-bench.ts';
import { seedRouter } from '../harness/seed.ts';

const HOUR = 3_600_000;
const NOW = 1_900_000_000_000;
const longestMs = { jobEvent: 26 * HOUR, backup: HOUR, thread: 8 * 24 * HOUR, message: 6 * HOUR };

/** A job whose update and whose backup are planned so much ahead. */
async function plan(storage: Storage, aheadMs: number): Promise<string> {
  const { teamId, routerId } = await seedRouter(storage);
  const id = newId(NOW);
  await storage.writes.write(async (tx) => {
    await insertJob(tx, {
      id,
      teamId,
      routerId,
      siteId: null,
      token: 't',
      requestId: 'r',
      idempotencyKey: id,
      description: 'd',
      script: 's',
      expressExecute: false,
      needsAcknowledgement: true,
      makeBackup: true,
      notifyUrl: 'http://127.0.0.1:1/',
      timeoutMs: 1000,
      now: NOW,
      expiresAt: NOW + HOUR,
    });
    await recordBackup(tx, { id, team_id: teamId, router_id: routerId }, { id: newId(NOW), now: NOW + aheadMs });
    await tx
      .updateTable('job_events')
      .set({ due_at: NOW + aheadMs, claimed_until: NOW + aheadMs })
      .where('job_id', '=', id)
      .execute();
  });
  return id;
}

describeEachDatabase('plans at the start', (open) => {
  test.each([
    ['within what is ever planned stay', HOUR, [HOUR, HOUR, HOUR]],
    ['farther ahead than any backup is planned are due', 2 * HOUR, [2 * HOUR, 2 * HOUR, 0]],
    ['farther ahead than anything is planned are due', 48 * HOUR, [0, 0, 0]],
  ])('%s', async (_what, aheadMs, left) => {
    const storage = await open();
    const id = await plan(storage, aheadMs);
    await storage.writes.write((tx) => capPlans(tx, NOW, longestMs));
    const event = await storage.db
      .selectFrom('job_events')
      .select(['due_at', 'claimed_until'])
      .where('job_id', '=', id)
      .executeTakeFirstOrThrow();
    const backup = await storage.db.selectFrom('backups').select('due_at').where('job_id', '=', id).executeTakeFirstOrThrow();
    expect([event.due_at! - NOW, event.claimed_until! - NOW, backup.due_at! - NOW]).toEqual(left);
  });

  test('a code that proves an address, sent in the future, has ended and counts as sent now', async () => {
    const storage = await open();
    const { teamId, routerId: ownerId } = await seedRouter(storage);
    const of = { teamId, userId: null, ownerId, addressKey: 'k' };
    const [past, future] = [newId(NOW), newId(NOW)];
    await insertProof(storage.db, { ...of, id: past, codeHash: 'h', sentAt: NOW - 1000, expiresAt: NOW + 1000 });
    await insertProof(storage.db, { ...of, id: future, codeHash: 'h', sentAt: NOW + 1000, expiresAt: NOW + HOUR });
    await storage.writes.write((tx) => capPlans(tx, NOW, longestMs));
    const rows = await storage.db
      .selectFrom('address_proofs')
      .select(['id', 'sent_at', 'expires_at'])
      .where('owner_id', '=', ownerId)
      .execute();
    expect(new Map(rows.map((row) => [row.id, [row.sent_at, row.expires_at]]))).toEqual(
      new Map([
        [past, [NOW - 1000, NOW + 1000]],
        [future, [NOW, 0]],
      ]),
    );
  });

  test('a link that proves a chat, made in the future, has ended, and what is read for it is read now', async () => {
    const storage = await open();
    const { db } = storage;
    const { teamId } = await seedRouter(storage);
    const owner = { teamId, userId: await seedPerson(storage, teamId, 'ada@example.org') };
    const [past, future] = [newId(NOW), newId(NOW)];
    await insertLink(db, { ...owner, id: past, tokenHash: 'p', createdAt: NOW - 1000, expiresAt: NOW + 1000 });
    await insertLink(db, { ...owner, id: future, tokenHash: 'f', createdAt: NOW + 1000, expiresAt: NOW + HOUR });
    await insertReader(db, NOW + 7 * HOUR);
    await db
      .updateTable('telegram_readers')
      .set({ claimed_until: NOW + 7 * HOUR })
      .execute();
    await storage.writes.write((tx) => capPlans(tx, NOW, longestMs));
    const links = await db.selectFrom('telegram_links').select(['id', 'expires_at']).orderBy('expires_at').execute();
    expect(links).toEqual([
      { id: future, expires_at: NOW },
      { id: past, expires_at: NOW + 1000 },
    ]);
    const reader = await db.selectFrom('telegram_readers').select(['due_at', 'claimed_until']).executeTakeFirstOrThrow();
    expect(reader).toEqual({ due_at: NOW, claimed_until: NOW });
  });
});
