import { expect, test } from 'vitest';
import type { Router } from '../../client/index.ts';
import { filterOf } from '../../console/src/pages/fleet/routers/search.ts';
import { KEYSTROKES } from '../../scripts/bench/keystrokes.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { seedManyRouters } from '../harness/many-routers.ts';

const ROUTERS = 5000;

describeEachDatabase('the fleet of the benchmarks', (open) => {
  test('has other matches with each key that the benchmark of the console types', async () => {
    const storage = await open();
    const { teamId } = await seedManyRouters(storage, ROUTERS);
    const rows = await storage.db
      .selectFrom('routers')
      .innerJoin('agents', 'agents.id', 'routers.agent_id')
      .select(['identity', 'serial_number', 'model', 'board_name', 'routers.site_id', 'agents.name as agent_name'])
      .where('routers.team_id', '=', teamId)
      .execute();
    const sites = new Map((await storage.db.selectFrom('sites').select(['id', 'name']).execute()).map(({ id, name }) => [id, name]));
    const routers = rows.map((row): Router => ({ ...row, last_seen_from: null }) as unknown as Router);
    const typed = KEYSTROKES.map((_key, index) => KEYSTROKES.slice(0, index + 1).join(''));
    const counts = ['', ...typed].map((q) => routers.filter(filterOf(q, sites)).length);
    expect(counts[0]).toBe(ROUTERS);
    expect(new Set(counts).size).toBe(counts.length);
  });
});
