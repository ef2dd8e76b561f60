import { beforeAll, expect, test } from 'vitest';
import { firstOf } from '../../server/platform/core/list-page.ts';
import { MAX_PAGE } from '../../server/platform/core/page.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { findByState } from '../../server/fleet/routers/list/by-state.ts';
import { countRouterMatches, selectMatches, selectRouterPage } from '../../server/fleet/routers/list/store.ts';
import type { RouterFilter, RouterSort, StateFilter } from '../../server/fleet/routers/list/types.ts';
import { readVersionBound } from '../../server/fleet/routers/list/version-bound.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { EVERY_ROUTER } from '../harness/list-routers.ts';
import { seedManyRouters } from '../harness/many-routers.ts';
import type { ManyRouters } from '../harness/many-routers.ts';
import { learnSizes, plansOf } from '../harness/plans.ts';
import type { Plan } from '../harness/plans.ts';

const LIMIT = 100;
/** Of the routers. */
const START = 1_700_000_000_000;

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
        // An agent has 500 routers at most (MAX_ROUTERS_PER_AGENT), and these two sites have 214: sorting those is less work than leaving
        // the others out.
        expectBounded(plans, name === 'an agent' || name === 'two sites' ? 500 : MAX_PAGE);
      }
      expectBounded(await plansOf(storage, (db) => countRouterMatches(db, mine.teamId, filter)));
    }
  });

  /** As the service has them: all of a team but every `rare`th, by id. */
  const statesBut = (rare: number): StateFilter =>
    new Map(
      mine.routers.flatMap((id, index) =>
        index % rare === 0 ? [] : [[id, { id, agentId: 'a', state: 'agent_away' as const, since: START + (index % 100), reason: null }]],
      ),
    );

  test('routers in a state that most of them have are read in the order of the list', async () => {
    for (const sort of ['created_at', 'identity', 'model', 'version'] as const) {
      const query = { filter: EVERY_ROUTER, states: statesBut(10), page: { limit: LIMIT, sort, descending: true, after: undefined } };
      const plans = await plansOf(storage, (db) => findByState(db, mine.teamId, { ...query, wantsTotal: true }));
      // Some are in another state: one look is not enough. Then their records are read by their ids.
      const [records, ...steps] = plans.toReversed();
      expect(steps.length).toBeLessThan(4);
      expectBounded(steps);
      for (const { statement } of steps) expect(statement).toContain('limit');
      expect(records!.reads.map(({ condition }) => condition).join(), records!.text).toMatch(/\bid ?=/);
    }
  });

  test.each([2, 10, 1000])('routers in a state are the same in steps and among all, all but one of %i', async (rare) => {
    const states = statesBut(rare);
    const model = { ...EVERY_ROUTER, models: { only: ['RB4011iGS+'], not: [] } };
    for (const sort of ['created_at', 'identity', 'model', 'version', 'state_since'] as const)
      for (const [descending, filter] of [
        [true, EVERY_ROUTER],
        [false, model],
      ] as const) {
        const value = sort.endsWith('ed_at') ? START + 500 : sort === 'state_since' ? START + 50 : 'gw-5';
        for (const after of [undefined, { value, id: mine.routers[1500]! }]) {
          const page = { limit: LIMIT, sort, descending, after };
          const all = await selectMatches(storage.db, mine.teamId, filter, sort);
          const valueOf = ({ id, value: own }: (typeof all)[0]) => (sort === 'state_since' ? states.get(id)!.since : own);
          const inStates = all.filter(({ id }) => states.has(id));
          const expected = firstOf(inStates, page, valueOf).map(({ id }) => id);
          const find = (wantsTotal: boolean) => findByState(storage.db, mine.teamId, { filter, states, page, wantsTotal });
          expect(
            (await find(false)).rows.map(({ id }) => id),
            `${sort} ${kind.name}`,
          ).toEqual(expected);
          const { rows, total } = await find(true);
          expect([rows.map(({ id }) => id), total]).toEqual([expected, { count: inStates.length, isExact: true }]);
        }
      }
  });

  test('of a statement without an index are found out', async () => {
    const everything = await plansOf(storage, (db) => db.selectFrom('routers').select('id').orderBy('updated_at').execute());
    expect(() => expectBounded(everything), kind.name).toThrow();
  });
});
