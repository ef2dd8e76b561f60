import { expect, test } from 'vitest';
import { AuditService } from '../../server/access/audit/service.ts';
import { AppError } from '../../server/platform/core/errors.ts';
import type { WriteQueue } from '../../server/platform/storage/db.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { seedTeam } from '../harness/seed.ts';
import { silentLog } from '../harness/silent-log.ts';

const ALL = { limit: 1000, before: undefined };

describeEachDatabase('audit entries', (open) => {
  const entry = (teamId: string, action: string) => ({
    team_id: teamId,
    actor_kind: 'api_key',
    actor_id: 'k',
    source: '192.0.2.1',
    action,
    target: null,
    result: 200,
  });

  test('wait for a database that cannot take them, and are there afterwards', async () => {
    const storage = await open();
    const { teamId } = await seedTeam(storage);
    const clock = new ManualClock(1_700_000_000_000);
    const state = { isFull: true };
    const writes: WriteQueue = {
      write: (work) => (state.isFull ? Promise.reject(new AppError('unavailable', 'disk full')) : storage.writes.write(work)),
    };
    const audit = new AuditService({ storage: { ...storage, db: storage.db, writes }, clock, log: silentLog });
    audit.record(entry(teamId, 'kept'));
    expect(await audit.list(teamId, {}, ALL)).toEqual([]);
    state.isFull = false;
    expect(await audit.list(teamId, {}, ALL)).toEqual([expect.objectContaining({ action: 'kept' })]);
    await audit.stop();
  });
});
