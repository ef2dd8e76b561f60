import { beforeAll, expect, test } from 'vitest';
import { selectRouterPage } from '../../server/fleet/routers/list/store.ts';
import { selectDevices } from '../../server/fleet/devices/list/store.ts';
import { newId } from '../../server/platform/core/ids.ts';
import type { Page } from '../../server/platform/core/page.ts';
import { inChunks } from '../../server/platform/storage/columns.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { MOST_OUTPUT_OF_A_PAGE, readJobPage } from '../../server/work/jobs/list/pages.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { EVERY_ROUTER, NEWEST_FIRST } from '../harness/list-routers.ts';
import { seedJobs } from '../harness/many-records.ts';
import { seedManyRouters } from '../harness/many-routers.ts';
import type { ManyRouters } from '../harness/many-routers.ts';

/** Lists that are read in steps show the same as a list that is read at once. */

const DEVICES = 5000;

describeEachDatabase('lists that are read in steps', (open) => {
  let storage: Storage;
  let team: ManyRouters;
  /** Newest first. */
  let devices: { id: string; at: number; hostname: string }[];

  beforeAll(async () => {
    storage = await open();
    team = await seedManyRouters(storage, 2500);
    devices = Array.from({ length: DEVICES }, (_, index) => ({
      // Many were first seen in the same millisecond.
      at: 1000 + Math.floor(index / 700),
      id: newId(1000 + index),
      hostname: index % 10 === 0 ? `printer-${index}` : `host-${index}`,
    })).toSorted((one, other) => other.at - one.at || (one.id < other.id ? 1 : -1));
    const rows = devices.map(({ id, at, hostname }, index) => ({
      id,
      team_id: team.teamId,
      place: index % 2 === 0 ? team.sites[0]! : team.sites[1]!,
      site_id: index % 2 === 0 ? team.sites[0]! : team.sites[1]!,
      mac: `02:00:00:00:${(index >> 8).toString(16).padStart(2, '0')}:${(index & 255).toString(16).padStart(2, '0')}`.toUpperCase(),
      hostname,
      manufacturer: null,
      first_seen_at: at,
    }));
    for (const chunk of inChunks(rows)) await storage.db.insertInto('devices').values(chunk).execute();
  });

  test('devices of one site', async () => {
    const rows = await selectDevices(
      storage.db,
      team.teamId,
      { siteId: team.sites[1], routerId: undefined },
      { limit: 3000, before: undefined },
    );
    expect(rows.map(({ id }) => id)).toEqual(devices.filter((_, index) => index % 2 === 1).map(({ id }) => id));
  });

  test.each(['created_at', 'identity', 'version'] as const)('routers sorted by %s', async (sort) => {
    const page = { ...NEWEST_FIRST, sort, limit: 2400 };
    const rows = await selectRouterPage(storage.db, team.teamId, EVERY_ROUTER, page);
    const { db } = storage;
    const column = { created_at: 'created_at', identity: 'identity', version: 'version_key' }[sort] as 'identity';
    const atOnce = db.selectFrom('routers').selectAll().where('team_id', '=', team.teamId).orderBy(column, 'desc').orderBy('id', 'desc');
    expect(rows).toEqual(await atOnce.limit(2400).execute());
  });

  test('jobs: a page ends early when they have printed too much, and no job is lost', async () => {
    const [routerId] = team.routers;
    const ids = await seedJobs(storage, { ...team, routers: [routerId!] }, 230, 5000);
    const output = 'x'.repeat(64_000);
    await storage.db.updateTable('jobs').set({ output }).where('router_id', '=', routerId!).execute();
    const found: string[] = [];
    const sizes: number[] = [];
    let page: Page = { limit: 1000, before: undefined };
    for (let isCut = true; isCut;) {
      const read = await readJobPage(storage.db, { teamId: team.teamId, routerId: routerId!, statuses: [], page });
      found.push(...read.rows.map(({ id }) => id));
      sizes.push(read.rows.length);
      ({ isCut } = read);
      const last = read.rows.at(-1)!;
      page = { limit: 1000, before: { at: last.created_at, id: last.id } };
    }
    const full = Math.ceil(MOST_OUTPUT_OF_A_PAGE / output.length);
    expect(sizes).toEqual([full, full, full, 230 - 3 * full]);
    expect(new Set(found)).toEqual(new Set(ids));
    expect(found).toHaveLength(ids.length);
  });
});
