import { afterEach, expect, test } from 'vitest';
import { openStorage } from '../../server/platform/storage/open.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { MOST_RECORDED_CHARS, TERMINAL_LIMITS } from '../../server/work/terminals/limits.ts';
import { sumRecordings } from '../../server/work/terminals/recording/store.ts';
import { scrapeAll } from '../harness/metrics.ts';
import { plansOf } from '../harness/plans.ts';
import { silentLog } from '../harness/silent-log.ts';
import { World } from '../harness/world.ts';

let world: World;
let storage: Storage;
afterEach(async () => {
  await storage.close();
  await world.close();
});

/** As many recordings of the greatest length as fill the team's share. */
const FULL = Math.ceil(MOST_RECORDED_CHARS / TERMINAL_LIMITS.recordingChars);

test('a team that records without end opens no more terminals, loses no recording, and another team goes on', async () => {
  world = await World.start({ routers: [{}] });
  const [routerId] = await world.routerIds();
  storage = await openStorage(world.databaseUrl, { log: silentLog });
  const { teamId } = world.caller;
  const rows = Array.from({ length: FULL }, (_, n) => ({
    id: `recorded ${n}`,
    team_id: teamId,
    router_id: routerId!,
    agent_id: 'a',
    level: 'read',
    reason: 'x',
    opened_by: `p ${n}`,
    opened_by_kind: 'api_key',
    opened_via: null,
    signed_in_at: null,
    source: '192.0.2.1',
    created_at: n,
    ended_at: n,
    cols: 80,
    rows: 24,
    recording_chars: TERMINAL_LIMITS.recordingChars,
    recording_chunks: 1,
  }));
  for (let at = 0; at < rows.length; at += 100)
    await storage.db
      .insertInto('terminals')
      .values(rows.slice(at, at + 100))
      .execute();

  const open = async () =>
    world.caller.call<{ code: string }>('POST', `/api/routers/${routerId}/terminals`, { level: 'read', reason: 'another one' });
  const refused = await open();
  expect([refused.status, refused.body.code]).toEqual([409, 'quota_exceeded']);
  expect((await scrapeAll(world)).value('signalbox_limits_reached_total', { limit: 'terminal_recordings_per_team' })).toBe(1);
  expect(await sumRecordings(storage.db, teamId)).toBeGreaterThanOrEqual(MOST_RECORDED_CHARS);
  expect(await sumRecordings(storage.db, (await world.addTeam('Other')).teamId)).toBe(0);
  // However many there are, the index alone is read.
  for (const { reads, text } of await plansOf(storage, (db) => sumRecordings(db, teamId)))
    expect(reads, text).toMatchObject([{ table: 'terminals', index: 'terminals_kept_recordings' }]);

  // The agent of this world has no terminals; what matters is that the quota lets this through to it.
  await storage.db.updateTable('terminals').set({ recording_deleted_at: 1 }).where('id', '=', 'recorded 0').execute();
  expect((await open()).body.code).not.toBe('quota_exceeded');
});
