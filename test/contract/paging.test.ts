import { expect, test } from 'vitest';
import { newId } from '../../server/platform/core/ids.ts';
import type { Page } from '../../server/platform/core/page.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { newestFirst } from '../../server/platform/storage/paging.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { seedTeam } from '../harness/seed.ts';

/** Several made in the same millisecond, as a burst of requests makes them. */
const MOMENTS = [1000, 1000, 1000, 2000, 2000, 3000, 3000];

async function makeSites(storage: Storage): Promise<{ teamId: string; newest: string[] }> {
  const { teamId } = await seedTeam(storage);
  const sites = MOMENTS.map((at, index) => ({ id: newId(at), team_id: teamId, name: `site ${index}`, created_at: at }));
  await storage.db.insertInto('sites').values(sites.toReversed()).execute();
  const newest = sites.toSorted((one, other) => other.created_at - one.created_at || (one.id < other.id ? 1 : -1)).map(({ id }) => id);
  return { teamId, newest };
}

describeEachDatabase('a list of records', (open) => {
  test.each([1, 2, 3, 7, 8])('is read whole in pages of %d, although moments are equal', async (limit) => {
    const storage = await open();
    const { teamId, newest } = await makeSites(storage);
    const seen: string[] = [];
    for (let page: Page | undefined = { limit, before: undefined }; page;) {
      const rows: { id: string; created_at: number }[] = await storage.db
        .selectFrom('sites')
        .select(['id', 'created_at'])
        .where('team_id', '=', teamId)
        .$call(newestFirst(page))
        .execute();
      seen.push(...rows.map(({ id }) => id));
      const last = rows.at(-1);
      page = last && { limit, before: { at: last.created_at, id: last.id } };
    }
    expect(seen).toEqual(newest);
  });

  test('can be ordered by other columns, of a joined table', async () => {
    const storage = await open();
    const { teamId, newest } = await makeSites(storage);
    const rows = await storage.db
      .selectFrom('sites')
      .innerJoin('teams', 'teams.id', 'sites.team_id')
      .select('sites.id')
      .where('sites.team_id', '=', teamId)
      .$call(newestFirst({ limit: 2, before: { at: 3000, id: newest[0]! } }, 'sites.created_at', 'sites.id'))
      .execute();
    expect(rows.map(({ id }) => id)).toEqual(newest.slice(1, 3));
  });
});
