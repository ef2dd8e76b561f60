import { beforeEach, describe, expect, test } from 'vitest';
import { catalogRoutes } from '../../server/fleet/catalog/routes.ts';
import { loadCatalog } from '../../server/fleet/catalog/service.ts';
import { newId } from '../../server/platform/core/ids.ts';
import { metadataRoutes } from '../../server/fleet/metadata/routes.ts';
import { MetadataService } from '../../server/fleet/metadata/service.ts';
import { RoutersService } from '../../server/fleet/routers/service.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { seedRouter } from '../harness/seed.ts';
import type { SeededRouter } from '../harness/seed.ts';
import { silentLog } from '../harness/silent-log.ts';
import { TeamApp } from '../harness/team-app.ts';

describeEachDatabase('what is known of a router', (open) => {
  let storage: Storage;
  let metadata: MetadataService;
  let routers: RoutersService;
  let app: TeamApp;
  let mine: SeededRouter;
  let other: SeededRouter;

  beforeEach(async () => {
    storage = await open();
    const clock = new ManualClock();
    const catalog = await loadCatalog({ imagesUrl: 'https://img.example' });
    routers = new RoutersService({ storage, clock, log: silentLog, rules: { offlineAfterMs: 75_000 } });
    metadata = new MetadataService({ storage, clock, log: silentLog, routers, catalog });
    app = new TeamApp((scope) => {
      catalogRoutes(scope, { catalog, routers });
      metadataRoutes(scope, { metadata });
    });
    mine = await seedRouter(storage);
    other = await seedRouter(storage);
  });

  const oem = (router: SeededRouter) => app.get(mine.teamId, `/api/routers/${router.routerId}/oem`);
  const ofMine = async () => (await app.get(mine.teamId, `/api/routers/${mine.routerId}/metadata`)).body['data'];
  const change = (values: object) => storage.db.updateTable('routers').set(values).where('id', '=', mine.routerId).execute();
  const place = async (values: { time_zone?: string; latitude?: number; longitude?: number }, name = 'Riga') => {
    const id = newId(1);
    await storage.db
      .insertInto('sites')
      .values({ id, team_id: mine.teamId, name, time_zone: null, latitude: null, longitude: null, created_at: 1, ...values })
      .execute();
    await change({ site_id: id });
  };
  const connection = () => ({ agentId: mine.agentId, teamId: mine.teamId, epoch: 1, address: '198.51.100.7', reset: false });

  describe('OEM information', () => {
    test('has all 22 fields of the product', async () => {
      const { status, body } = await oem(mine);
      expect(status).toBe(200);
      expect(Object.keys(body['data'] as object)).toHaveLength(22);
      expect(body).toMatchObject({
        status: 'success',
        data: {
          name: 'hAP ac²',
          slug: 'hap_ac2',
          archived: false,
          architecture: 'ARM 32bit',
          cpu_core_count: '4',
          banner: 'https://img.example/hap_ac2/banner.png',
          thumbnail: 'https://img.example/hap_ac2/thumbnail.png',
        },
      });
    });

    test('is null throughout for a router that is not in the catalogue', async () => {
      await change({ model: 'RB951G-2HnD', board_name: 'RB951G-2HnD' });
      const { status, body } = await oem(mine);
      expect(status).toBe(200);
      expect(new Set(Object.values(body['data'] as object))).toEqual(new Set([null]));
    });

    test("another team's router and unknown ids do not exist", async () => {
      expect((await oem(other)).status).toBe(404);
      expect((await app.get(mine.teamId, `/api/routers/${newId(1)}/oem`)).status).toBe(404);
      expect((await app.get(mine.teamId, '/api/routers/nonsense/oem')).status).toBe(404);
    });
  });

  describe('metadata', () => {
    test('of a router of which little is known', async () => {
      expect(await ofMine()).toEqual({
        name: 'MikroTik',
        timezone: null,
        boardname: 'hAP ac^2',
        model: 'RBD52G-5HacD2HnD',
        hardware_board: true,
        banner_img: 'https://img.example/hap_ac2/banner.png',
        thumbnail_img: 'https://img.example/hap_ac2/thumbnail.png',
        slug: 'hap_ac2',
        last_seen_from: null,
        lat: null,
        lng: null,
        location_origin: null,
        tunnel_ip: null,
      });
    });

    test('the site tells time zone and location', async () => {
      await place({ time_zone: 'Europe/Riga', latitude: 56.95, longitude: 24.1 });
      expect(await ofMine()).toMatchObject({ timezone: 'Europe/Riga', lat: 56.95, lng: 24.1, location_origin: 'site' });
    });

    test("the site's time zone counts more than the router's own, as its position does; without one, the router's own is used", async () => {
      await place({});
      await change({ time_zone: 'Europe/Lisbon' });
      expect(await ofMine()).toMatchObject({ timezone: 'Europe/Lisbon', lat: null });
      await place({ time_zone: 'Europe/Riga' }, 'Riga too');
      expect(await ofMine()).toMatchObject({ timezone: 'Europe/Riga', lat: null });
    });

    test('a GPS receiver tells the location where the site does not', async () => {
      await place({});
      await metadata.onPosition(mine.routerId, { latitude: 1, longitude: 2 });
      expect(await ofMine()).toMatchObject({ lat: 1, lng: 2, location_origin: 'gps' });
      await metadata.onPosition(mine.routerId, { latitude: 3, longitude: 4 });
      expect(await ofMine()).toMatchObject({ lat: 3, lng: 4, location_origin: 'gps' });
      await place({ latitude: 56.95, longitude: 24.1 }, 'elsewhere');
      expect(await ofMine()).toMatchObject({ lat: 56.95, location_origin: 'site' });
    });

    test("the tunnel's address is shown while there is a tunnel, last_seen_from stays", async () => {
      routers.presence.record(mine.routerId, { reachable: true, uptimeSeconds: 5, at: 1000, from: '198.51.100.7' });
      metadata.onReady(connection());
      expect(await ofMine()).toMatchObject({ tunnel_ip: '198.51.100.7', last_seen_from: '198.51.100.7' });
      metadata.onGone(connection());
      expect(await ofMine()).toMatchObject({ tunnel_ip: null, last_seen_from: '198.51.100.7' });
    });

    test("another team's router does not exist", async () => {
      expect((await app.get(mine.teamId, `/api/routers/${other.routerId}/metadata`)).status).toBe(404);
    });
  });
});
