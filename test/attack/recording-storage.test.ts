import { expect, test } from 'vitest';
import { purgeSome } from '../../server/fleet/removals/store.ts';
import { newId } from '../../server/platform/core/ids.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { TERMINAL_LIMITS } from '../../server/work/terminals/limits.ts';
import { Recorder } from '../../server/work/terminals/recording/recorder.ts';
import { insertPart, selectPart } from '../../server/work/terminals/recording/store.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { seedRouter } from '../harness/seed.ts';
import type { SeededRouter } from '../harness/seed.ts';
import { eventually } from '../harness/wait-until.ts';

async function seedTerminal(storage: Storage, { teamId, routerId, agentId }: SeededRouter, ended = true): Promise<string> {
  const id = newId(1000);
  await storage.db
    .insertInto('terminals')
    .values({
      id,
      team_id: teamId,
      router_id: routerId,
      agent_id: agentId,
      level: 'read',
      reason: 'x',
      opened_by: `k ${id}`,
      opened_by_kind: 'api_key',
      opened_via: null,
      signed_in_at: null,
      source: '192.0.2.1',
      created_at: 1000,
      ended_at: ended ? 2000 : null,
      cols: 80,
      rows: 24,
    })
    .execute();
  return id;
}

describeEachDatabase('recordings in the database', (open) => {
  test('a part that was stored although its commit got no answer is stored again, with what came since', async () => {
    const storage = await open();
    const router = await seedRouter(storage);
    const key = { teamId: router.teamId, id: await seedTerminal(storage, router, false) };
    const clock = new ManualClock();
    const failures: unknown[] = [];
    let isAnswerLost = true;
    const recorder = new Recorder({
      clock,
      startedAt: clock.now(),
      title: 'a terminal',
      size: { cols: 80, rows: 24 },
      stored: { chunks: 0, chars: 0, outputBytes: 0, inputBytes: 0 },
      flushMs: TERMINAL_LIMITS.flushMs,
      store: async ({ text, ...part }) => {
        await storage.writes.write((tx) => insertPart(tx, key, { ...part, content: text, now: clock.now() }));
        if (isAnswerLost) throw new Error('the connection broke during the commit');
      },
      onFailure: (error) => failures.push(error),
      onStored: () => undefined,
    });
    recorder.output(0, Buffer.from('one'));
    clock.advance(TERMINAL_LIMITS.flushMs);
    await eventually(() => expect(failures).toHaveLength(1));
    const first = await selectPart(storage.db, key, 0);
    recorder.output(3, Buffer.from('two'));
    isAnswerLost = false;
    await recorder.close();
    expect(failures).toHaveLength(1);
    expect(recorder.unstored).toBe(0);
    const whole = await selectPart(storage.db, key, 0);
    expect(whole?.startsWith(first!)).toBe(true);
    expect(whole).toContain('two');
    const record = await storage.db.selectFrom('terminals').selectAll().where('id', '=', key.id).executeTakeFirstOrThrow();
    expect(record).toMatchObject({ recording_chunks: 1, recording_chars: whole!.length, output_bytes: 6 });
  });

  test('a purge deletes the recordings of a router a few in each transaction', async () => {
    const storage = await open();
    const router = await seedRouter(storage);
    const other = await seedRouter(storage, { teamId: router.teamId, agentId: router.agentId });
    for (const owner of [...Array.from({ length: 12 }, () => router), other]) {
      const key = { teamId: router.teamId, id: await seedTerminal(storage, owner) };
      const part = { number: 0, content: 'c', chars: 1, outputBytes: 1, inputBytes: 0, now: 1500 };
      await storage.writes.write((tx) => insertPart(tx, key, part));
    }
    const recordings = async () => (await storage.db.selectFrom('terminal_recordings').select('terminal_id').execute()).length;
    const left: number[] = [];
    for (let isMore = true; isMore; left.push(await recordings()))
      isMore = await storage.writes.write((tx) => purgeSome(tx, router.teamId, router.routerId, 200));
    // The one that stays belongs to the other router.
    expect(left).toEqual([8, 3, 1]);
  });
});
