import { expect, test } from 'vitest';
import { DeviceLimits } from '../../server/fleet/devices/limits.ts';
import type { SightedDevice } from '../../server/fleet/devices/store.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { seedDevices } from '../harness/many-records.ts';
import { seedManyRouters } from '../harness/many-routers.ts';
import { learnSizes, plansOf } from '../harness/plans.ts';

const START = 1_700_000_000_000;

describeEachDatabase('the devices of a team', (open) => {
  test('are counted in steps before the write, once for all its agents, and the write counts none of them', async () => {
    const storage = await open();
    const team = await seedManyRouters(storage, 10);
    await seedDevices(storage, team, 1050, START);
    await learnSizes(storage);
    const limits = new DeviceLimits(undefined, { step: 500 });
    const steps = await plansOf(storage, (db) => Promise.all([limits.prepare(db, team.teamId), limits.prepare(db, team.teamId)]));
    // Two whole steps, one that finds no further one, and the rest, which is a query in a query.
    expect(steps).toHaveLength(5);
    for (const { reads, sorted, text } of steps) {
      for (const { condition } of reads.filter(({ table }) => table === 'devices')) expect(condition, text).toMatch(/team_id/);
      expect(sorted, text).toBe(0);
    }
    const scope = { teamId: team.teamId, routerId: team.routers[0]!, siteId: null };
    const inWrite = await plansOf(storage, (db) => limits.admit(db, scope, []));
    expect(inWrite.flatMap(({ reads }) => reads.map(({ table }) => table))).not.toContain('devices');
  });

  test('are counted again when some are deleted while they are counted', async () => {
    const storage = await open();
    const team = await seedManyRouters(storage, 1);
    await seedDevices(storage, team, 150, START);
    const limits = new DeviceLimits(undefined, { step: 100, perTeam: 100 });
    let isFirst = true;
    const watched = storage.db.withPlugin({
      transformQuery: ({ node }) => node,
      transformResult: async ({ result }) => {
        if (isFirst) {
          isFirst = false;
          await storage.db.deleteFrom('devices').execute();
          limits.forget();
        }
        return result;
      },
    });
    await limits.prepare(watched, team.teamId);
    const scope = { teamId: team.teamId, routerId: team.routers[0]!, siteId: null };
    const phone = { mac: 'DE:6E:70:C0:CC:B2' } as SightedDevice;
    expect(await limits.admit(storage.db, scope, [phone])).toEqual([phone]);
  });
});
