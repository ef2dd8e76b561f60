import { beforeAll, expect, test } from 'vitest';
import { selectAgentNames } from '../../server/fleet/agents/store.ts';
import { selectPlacedRouters, selectStatesBefore } from '../../server/fleet/availability/store.ts';
import { selectNames as selectNamesOfHistory } from '../../server/fleet/history/store.ts';
import { selectMatchesAmong, selectRoutersById } from '../../server/fleet/routers/list/store.ts';
import { SELECT_FOUND } from '../../server/fleet/search/store.ts';
import { upsertStates } from '../../server/fleet/states/store.ts';
import { newId } from '../../server/platform/core/ids.ts';
import type { Db, Storage } from '../../server/platform/storage/db.ts';
import { lockRouters } from '../../server/platform/storage/router-lock.ts';
import { selectKnownRouters, selectKnownSites } from '../../server/work/campaigns/store.ts';
import { findOpenForwards } from '../../server/work/forwards/list/store.ts';
import { selectNames as selectNamesOfTimeline } from '../../server/work/jobs/timeline/store.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { EVERY_ROUTER } from '../harness/list-routers.ts';
import { seedDevices, seedForwards } from '../harness/many-records.ts';
import { seedManyRouters } from '../harness/many-routers.ts';
import type { ManyRouters } from '../harness/many-routers.ts';
import { learnSizes, plansOf } from '../harness/plans.ts';

const START = 1_700_000_000_000;
/** As many as a page has: SQLite, which knows no sizes, prefers the index of the team to more than some ten ids. */
const WANTED = 100;

describeEachDatabase('records of a team that are looked up by their ids', (open) => {
  let storage: Storage;
  let mine: ManyRouters;

  beforeAll(async () => {
    storage = await open();
    mine = await seedManyRouters(storage, 3000, START);
    await seedDevices(storage, mine, 3000, START);
    await seedForwards(storage, mine, 3000, START);
    const states = mine.routers.map((routerId, index) => ({
      id: newId(START + index),
      team_id: mine.teamId,
      router_id: routerId,
      state: 'answering',
      reason: null,
      since: START + index,
      until: null,
    }));
    for (let from = 0; from < states.length; from += 500)
      await storage.writes.write((tx) => upsertStates(tx, states.slice(from, from + 500)));
    await learnSizes(storage);
  });

  const ids = Array.from({ length: WANTED }, (_, index) => newId(START + index));
  const queries: [string, (db: Db) => Promise<unknown>][] = [
    ['a page of routers', (db) => selectRoutersById(db, mine.teamId, ids)],
    ['routers in a rare state', (db) => selectMatchesAmong(db, mine.teamId, { filter: EVERY_ROUTER, ids, sort: 'identity' })],
    ['names of agents', (db) => selectAgentNames(db, mine.teamId, ids)],
    ['names in a history', (db) => selectNamesOfHistory(db, mine.teamId, ids)],
    ['names in a timeline', (db) => selectNamesOfTimeline(db, mine.teamId, ids)],
    ['routers that were found', (db) => SELECT_FOUND.router(db, mine.teamId, ids)],
    ['agents that were found', (db) => SELECT_FOUND.agent(db, mine.teamId, ids)],
    ['sites that were found', (db) => SELECT_FOUND.site(db, mine.teamId, ids)],
    ['devices that were found', (db) => SELECT_FOUND.device(db, mine.teamId, ids)],
    ['campaigns that were found', (db) => SELECT_FOUND.campaign(db, mine.teamId, ids)],
    ['routers of an availability', (db) => selectPlacedRouters(db, mine.teamId, ids, { limit: WANTED, before: undefined })],
    ['states of an availability', (db) => selectStatesBefore(db, mine.teamId, mine.routers.slice(0, WANTED), START + 10_000)],
    ['routers of a campaign', (db) => selectKnownRouters(db, mine.teamId, ids)],
    ['sites of a campaign', (db) => selectKnownSites(db, mine.teamId, ids)],
    ['watched forwards', (db) => findOpenForwards(db, mine.teamId, ids)],
    ['routers that are locked', (db) => lockRouters(db as never, storage.engine, mine.teamId, ids)],
  ];

  test.each(queries)('%s are found by them, and not by reading the whole team', async (_what, run) => {
    const plans = await plansOf(storage, run);
    expect(plans.length).toBeGreaterThan(0);
    for (const { reads, text } of plans)
      for (const { table, condition } of reads) {
        // Of a small table PostgreSQL reads all pages.
        if (storage.engine === 'postgres' && !LARGE.has(table)) continue;
        expect(condition, text).toMatch(/\b(?:id|router_id|mac|user_id)\b/);
      }
  });
});

const LARGE = new Set(['routers', 'devices', 'forwards', 'router_state_changes']);
