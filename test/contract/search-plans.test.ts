import { beforeAll, expect, test } from 'vitest';
import { searchDevices, selectDevices } from '../../server/fleet/devices/list/store.ts';
import { deleteForgotten } from '../../server/fleet/devices/store.ts';
import { selectHits, selectJobs } from '../../server/fleet/search/store.ts';
import { selectViews } from '../../server/access/views/store.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { seedDevices, seedJobs } from '../harness/many-records.ts';
import { seedManyRouters } from '../harness/many-routers.ts';
import type { ManyRouters } from '../harness/many-routers.ts';
import { learnSizes, plansOf } from '../harness/plans.ts';

const START = 1_700_000_000_000;
const DEVICES = 6000;
/** What PostgreSQL looks through without its index (storage/search.ts). */
const LOOKED_THROUGH = 2000;

describeEachDatabase('the plans of devices and searches', (open) => {
  let storage: Storage;
  let mine: ManyRouters;

  beforeAll(async () => {
    storage = await open();
    mine = await seedManyRouters(storage, 300, START);
    const other = await seedManyRouters(storage, 300, START);
    for (const team of [mine, other]) {
      await seedDevices(storage, team, DEVICES, START);
      await seedJobs(storage, team, 3000, START);
    }
    await learnSizes(storage);
  });

  test('a page of devices, of all or of a site, reads an index of the team in its order', async () => {
    for (const siteId of [undefined, mine.sites[0]!]) {
      for (const before of [undefined, { at: START + 5, id: mine.routers[0]! }]) {
        const plans = await plansOf(storage, (db) =>
          selectDevices(db, mine.teamId, { siteId, routerId: undefined }, { limit: 100, before }),
        );
        for (const { reads, sorted, text } of plans) {
          const devices = reads.filter(({ table }) => table === 'devices');
          expect(devices.length, text).toBeGreaterThan(0);
          for (const { condition } of devices)
            expect(condition, text).toMatch(siteId === undefined ? /team_id/ : /(?=.*team_id)(?=.*site_id)/s);
          expect(sorted, text).toBeLessThanOrEqual(1000);
        }
      }
    }
  });

  test('the devices of a router are found by what it sees', async () => {
    const where = { siteId: undefined, routerId: mine.routers[5] };
    for (const before of [undefined, { at: START + 3, id: mine.routers[0]! }]) {
      const [plan] = await plansOf(storage, (db) => selectDevices(db, mine.teamId, where, { limit: 100, before }));
      const { reads, text } = plan!;
      expect(reads.find(({ table }) => table === 'device_sightings')?.condition, text).toMatch(/router_id/);
      expect(reads.find(({ table }) => table === 'devices')?.condition, text).toMatch(/^\(?id\b/);
    }
  });

  test('a step that forgets devices reads its devices by their keys, and theirs alone', async () => {
    for (const after of ['', mine.routers[0]!]) {
      const plans = await plansOf(storage, (db) => deleteForgotten(db, { before: START + 365 * 86_400_000, after, limit: 500 }));
      expect(plans.length).toBe(2);
      for (const { reads, sorted, text } of plans) {
        expect(sorted, text).toBe(0);
        for (const { index, condition } of reads)
          expect([index, condition], text).toEqual([expect.any(String), expect.stringMatching(/id|mac/)]);
      }
    }
  });

  test('a search asks the index of texts, and reads by their keys what it has found', async () => {
    const wish = { teamId: mine.teamId, kind: 'device', place: 'anywhere', limit: 100 } as const;
    for (const texts of [['till'], ['nosuchthing'], ['4c5e0c', '4c:5e:0c'], ['zq']]) {
      for (const siteId of [undefined, mine.sites[0]!]) {
        for (const plan of [
          ...(await plansOf(storage, (db) => selectHits({ db, engine: storage.engine }, { ...wish, texts, siteId }))),
          ...(await plansOf(storage, (db) =>
            searchDevices({ db, engine: storage.engine }, { teamId: mine.teamId, siteId, texts }, { limit: 100, before: undefined }),
          )),
        ]) {
          if (storage.engine === 'sqlite') {
            expect(plan.text).toMatch(/SCAN search_index VIRTUAL TABLE/);
            expect(plan.text.replace(/SCAN (?:search_index|search_waiting|hits|\(subquery-\d+\))/g, ''), plan.text).not.toMatch(/\bSCAN\b/);
          } else {
            expect(plan.text).toMatch(/search_documents_by_token/);
            expect(plan.text).not.toMatch(/Seq Scan (?:search_documents|devices|device_aliases)/);
            expect(plan.sorted, plan.text).toBeLessThanOrEqual(2 * LOOKED_THROUGH);
          }
        }
      }
    }
  });

  test('jobs are found by an index of their descriptions, and views by their team', async () => {
    for (const place of ['whole', 'beginning'] as const) {
      const plans = await plansOf(storage, (db) => selectJobs(db, mine.teamId, { text: 'job 1', place, limit: 20 }));
      for (const { reads, sorted, text } of plans) {
        expect(reads, text).toMatchObject([{ table: 'jobs', index: 'jobs_by_description' }]);
        expect(sorted, text).toBe(0);
      }
    }
    for (const plan of await plansOf(storage, (db) =>
      selectViews(db, { teamId: mine.teamId, userId: 'x' }, undefined, { limit: 100, before: undefined }),
    )) {
      for (const { condition } of plan.reads) expect(condition, plan.text).toMatch(/team_id/);
    }
  });
});
