import { beforeEach, expect, test } from 'vitest';
import { catalogRoutes } from '../../server/fleet/catalog/routes.ts';
import { loadCatalog } from '../../server/fleet/catalog/service.ts';
import { resolveRouterNames } from '../../server/platform/http/router-names.ts';
import { RoutersService } from '../../server/fleet/routers/service.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { seedRouter } from '../harness/seed.ts';
import type { SeededRouter } from '../harness/seed.ts';
import { silentLog } from '../harness/silent-log.ts';
import { TeamApp } from '../harness/team-app.ts';

describeEachDatabase('a router in a path', (open) => {
  let storage: Storage;
  let app: TeamApp;
  let mine: SeededRouter;
  let other: SeededRouter;

  beforeEach(async () => {
    storage = await open();
    const routers = new RoutersService({ storage, clock: new ManualClock(), log: silentLog, rules: { offlineAfterMs: 75_000 } });
    const catalog = await loadCatalog({ imagesUrl: 'https://img.example' });
    app = new TeamApp((scope) => {
      resolveRouterNames(scope, (teamId, identity) => routers.idOfIdentity(teamId, identity));
      catalogRoutes(scope, { catalog, routers });
    });
    mine = await seedRouter(storage);
    other = await seedRouter(storage);
    await rename(mine, 'edge-berlin');
    await rename(other, 'edge-zurich');
  });

  const rename = async ({ routerId }: SeededRouter, identity: string): Promise<void> => {
    await storage.db.updateTable('routers').set({ identity }).where('id', '=', routerId).execute();
  };
  const read = (name: string) => app.get(mine.teamId, `/api/routers/${encodeURIComponent(name)}/oem`);

  test('is named by its id, in either case, or by its identity', async () => {
    for (const name of [mine.routerId, mine.routerId.toUpperCase(), 'edge-berlin']) expect((await read(name)).status).toBe(200);
  });

  test.each(['edge-berlin/1', 'Käfig Süd', '%', 'a?b'])('may have the identity %s', async (identity) => {
    await rename(mine, identity);
    expect((await read(identity)).status).toBe(200);
  });

  test('of another team does not exist, by name as by id', async () => {
    expect((await read('edge-zurich')).status).toBe(404);
    expect((await read(other.routerId)).status).toBe(404);
    expect((await read('nobody')).status).toBe(404);
  });

  test('that shares its identity with another one of the team must be named by its id, and the refusal names both', async () => {
    const twin = await seedRouter(storage, { teamId: mine.teamId });
    await rename(twin, 'edge-berlin');
    const { status, body } = await read('edge-berlin');
    expect(status).toBe(409);
    expect(body['message']).toContain(mine.routerId);
    expect(body['message']).toContain(twin.routerId);
    expect((await read(mine.routerId)).status).toBe(200);
  });

  test('that calls itself like the id of another one takes nothing from it', async () => {
    const twin = await seedRouter(storage, { teamId: mine.teamId });
    await rename(twin, mine.routerId);
    await storage.db.deleteFrom('routers').where('id', '=', mine.routerId).execute();
    expect((await read(mine.routerId)).status).toBe(404);
  });
});
