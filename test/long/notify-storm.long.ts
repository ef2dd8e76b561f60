import process from 'node:process';
import { expect, test } from 'vitest';
import { newId } from '../../server/platform/core/ids.ts';
import { inChunks } from '../../server/platform/storage/columns.ts';
import type { NewNotice } from '../../server/platform/notices/types.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { followKinds } from '../harness/notifications.ts';
import { NotifyBench, seedPerson } from '../harness/notify-bench.ts';
import { seedManyRouters } from '../harness/many-routers.ts';

/** 10,000 routers of 200 sites away within a minute, and a group for each site (NOTIFY: bar 4). */

const START = 1_700_000_000_000;
const ROUTERS = 10_000;
const GROUPS = 200;
/** On two quiet processors; `NOTIFY_SLOWNESS` for a machine with other work. */
const WITHIN_MS = 20_000 * Number(process.env['NOTIFY_SLOWNESS'] ?? 1);

describeEachDatabase('10,000 routers that go away within a minute', (open, { name }) => {
  test(`are given to ${GROUPS} groups and written in under 20 s`, async () => {
    const storage = await open();
    const clock = new ManualClock(START + 1_000_000);
    const { teamId, routers: routerIds } = await seedManyRouters(storage, ROUTERS, START);
    const sites = Array.from({ length: GROUPS }, () => newId(START));
    for (const chunk of inChunks(sites.map((id) => ({ id, team_id: teamId, name: id, time_zone: 'UTC', created_at: 1 }))))
      await storage.db.insertInto('sites').values(chunk).execute();
    const perSite = ROUTERS / GROUPS;
    for (const [index, site] of sites.entries()) {
      const group = await followKinds(storage, teamId, ['*'], START + index);
      await storage.db.insertInto('group_sites').values({ team_id: teamId, group_id: group, site_id: site, position: 0 }).execute();
      await seedPerson(storage, teamId, `person-${index}@example.net`, group);
      const some = routerIds.slice(index * perSite, (index + 1) * perSite);
      await storage.db.updateTable('routers').set({ site_id: site }).where('id', 'in', some).execute();
    }
    const bench = new NotifyBench(storage, clock);
    const notices = routerIds.map((routerId): NewNotice => {
      const key = `router:${routerId}:router_offline`;
      return {
        teamId,
        kind: 'fault.router_offline',
        phase: 'open',
        severity: 'critical',
        key,
        recordId: key,
        version: 1,
        routerId,
        at: clock.now(),
      };
    });
    for (let n = 0; n < notices.length; n += 500) await bench.facts(notices.slice(n, n + 500));
    const began = performance.now();
    await bench.threads.run();
    const routed = performance.now();
    clock.advance(15_000);
    await bench.threads.run();
    const written = performance.now();
    const messages = await bench.log();
    process.stdout.write(
      `${name}: given to threads in ${Math.round(routed - began)} ms, decided and written in ${Math.round(written - routed)} ms; ${messages.length} messages\n`,
    );
    // One for each site.
    expect(messages).toHaveLength(GROUPS);
    expect(written - began).toBeLessThan(WITHIN_MS);
  }, 600_000);
});
