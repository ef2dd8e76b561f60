import { expect, test } from 'vitest';
import { RoutersService } from '../../server/fleet/routers/service.ts';
import { countStatements } from '../harness/count-statements.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { seedRouter } from '../harness/seed.ts';
import { silentLog } from '../harness/silent-log.ts';

describeEachDatabase('routers of requests that come together', (open) => {
  test('are read by one statement, and each request gets what its own team has', async () => {
    const storage = await open();
    const routers = new RoutersService({ storage, clock: new ManualClock(), log: silentLog, rules: { offlineAfterMs: 90_000 } });
    const [mine, other, removed] = [await seedRouter(storage), await seedRouter(storage), await seedRouter(storage)];
    await storage.db.updateTable('routers').set({ removed_at: 5 }).where('id', '=', removed.routerId).execute();
    const results: PromiseSettledResult<{ id: string }>[] = [];
    const statements = await countStatements(async () => {
      results.push(
        ...(await Promise.allSettled([
          routers.getRouter(mine.teamId, mine.routerId),
          routers.getRouter(other.teamId, other.routerId),
          routers.getRouter(mine.teamId, other.routerId),
          routers.getRouter(removed.teamId, removed.routerId),
          routers.getRouter(removed.teamId, removed.routerId, { orRemoved: true }),
          routers.getRouter(mine.teamId, mine.routerId),
        ])),
      );
    });
    expect(statements).toBe(1);
    const found = results.map((result) => (result.status === 'fulfilled' ? result.value.id : (result.reason as { code: string }).code));
    expect(found).toEqual([mine.routerId, other.routerId, 'not_found', 'not_found', removed.routerId, mine.routerId]);
    await routers.stop();
  });
});
