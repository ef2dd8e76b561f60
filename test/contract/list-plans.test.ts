import { beforeAll, expect, test } from 'vitest';
import { MAX_PAGE } from '../../server/platform/core/page.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { countRouterMatches, selectRouterPage } from '../../server/fleet/routers/list/store.ts';
import type { RouterFilter, RouterSort } from '../../server/fleet/routers/list/types.ts';
import { readVersionBound } from '../../server/fleet/routers/list/version-bound.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { EVERY_ROUTER } from '../harness/list-routers.ts';
import { seedManyRouters } from '../harness/many-routers.ts';
import type { ManyRouters } from '../harness/many-routers.ts';
import { learnSizes, plansOf } from '../harness/plans.ts';
import type { Plan } from '../harness/plans.ts';

const LIMIT = 100;

/** No row of another team is read, and no more than a page is sorted. */
function expectBounded(plans: readonly Plan[], sortedAtMost = MAX_PAGE): void {
  expect(plans.length).toBeGreaterThan(0);
  for (const plan of plans) {
    for (const { table, index, condition } of plan.reads) {
      if (table === 'counted' || table.startsWith('(subquery')) continue;
      expect(index, plan.text).not.toBeNull();
      expect(condition, plan.text).toMatch(/team_id|agent_id/);
    }
    expect(plan.sorted, plan.text).toBeLessThanOrEqual(sortedAtMost);
  }
}

describeEachDatabase('the plans of lists', (open, kind) => {
  let storage: Storage;
  let mine: ManyRouters;

  beforeAll(async () => {
    storage = await open();
    mine = await seedManyRouters(storage, 3000);
    await seedManyRouters(storage, 3000);
    await learnSizes(storage);
  });

  const filters = (): [string, Partial<RouterFilter>][] => [
    ['nothing', {}],
    ['two sites', { sites: { only: mine.sites.slice(0, 2), not: [] } }],
    ['all sites but one', { sites: { only: [], not: [mine.sites[0]!] } }],
    ['versions', { versions: [readVersionBound('<7.15')!, readVersionBound('!6')!] }],
    ['a model', { models: { only: ['RB4011iGS+'], not: [] } }],
    ['text', { search: 'gw-1' }],
    ['an agent', { agents: { only: [mine.agents[0]!], not: [] } }],
  ];

  test.each(['created_at', 'identity', 'model', 'version'] as const satisfies RouterSort[])('routers sorted by %s', async (sort) => {
    for (const [name, change] of filters()) {
      const filter = { ...EVERY_ROUTER, ...change };
      for (const after of [undefined, { value: sort === 'created_at' ? 1_700_000_000_500 : 'x', id: mine.routers[0]! }]) {
        const page = { limit: LIMIT, sort, descending: true, after };
        const plans = await plansOf(storage, (db) => selectRouterPage(db, mine.teamId, filter, page));
        // An agent has 500 routers at most (MAX_ROUTERS_PER_AGENT): sorting those is less work than leaving the others out.
        expectBounded(plans, name === 'an agent' ? Number.POSITIVE_INFINITY : MAX_PAGE);
      }
      expectBounded(await plansOf(storage, (db) => countRouterMatches(db, mine.teamId, filter)));
    }
  });

  test('of a statement without an index are found out', async () => {
    const everything = await plansOf(storage, (db) => db.selectFrom('routers').select('id').orderBy('updated_at').execute());
    expect(() => expectBounded(everything), kind.name).toThrow();
  });
});
