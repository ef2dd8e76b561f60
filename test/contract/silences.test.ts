import { beforeEach, expect, test } from 'vitest';
import { isSilenced } from '../../server/outbound/notifications/silences/is-silenced.ts';
import { silenceRoutes } from '../../server/outbound/notifications/silences/routes.ts';
import { SilencesService } from '../../server/outbound/notifications/silences/service.ts';
import { selectLastingSilences } from '../../server/outbound/notifications/silences/store.ts';
import { TeamsService } from '../../server/access/teams/service.ts';
import { SitesService } from '../../server/fleet/sites/service.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { seedRouter } from '../harness/seed.ts';
import { TeamApp } from '../harness/team-app.ts';
import type { TeamAnswer } from '../harness/team-app.ts';

const START = Date.parse('2026-01-05T12:00:00Z');
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const iso = (at: number): string => new Date(at).toISOString();

describeEachDatabase('silences', (open) => {
  let storage: Storage;
  let clock: ManualClock;
  let app: TeamApp;
  let silences: SilencesService;
  let north: string;
  let south: string;
  let routerId: string;
  let siteId: string;

  beforeEach(async () => {
    storage = await open();
    clock = new ManualClock(START);
    silences = new SilencesService({ storage, clock, keepMs: DAY_MS, onEnd: () => undefined });
    app = new TeamApp((scope) => silenceRoutes(scope, { silences, now: () => clock.now() }));
    const teams = new TeamsService({ storage, clock });
    north = (await teams.createTeam('North')).id;
    south = (await teams.createTeam('South')).id;
    ({ routerId } = await seedRouter(storage, { teamId: north }));
    siteId = (await new SitesService({ storage, clock }).create({ teamId: north, name: 'Depot' })).id;
  });

  const post = (body: object, teamId = north): Promise<TeamAnswer> =>
    app.ask(teamId, 'POST', '/api/silences', { reason: 'Maintenance', until: iso(START + HOUR_MS), ...body });
  const silenced = async (place: { routerId: string | null; siteId: string | null }, teamId = north): Promise<boolean> =>
    isSilenced(await selectLastingSilences(storage.db, teamId, clock.now()), place, clock.now());

  test('silence a router, a site or the whole team, from their begin to their end', async () => {
    const router = { routerId, siteId: null };
    const site = { routerId: null, siteId };
    await post({ router_id: routerId, from: iso(START + 1000) });
    expect(await silenced(router), 'not begun').toBe(false);
    clock.advance(1000);
    expect([await silenced(router), await silenced(site)]).toEqual([true, false]);
    await post({ site_id: siteId, until: iso(START + 2 * HOUR_MS) });
    expect([await silenced(site), await silenced({ routerId, siteId }), await silenced({ routerId: 'x', siteId: 'y' })]).toEqual([
      true,
      true,
      false,
    ]);
    clock.advance(HOUR_MS - 1001);
    expect(await silenced(router)).toBe(true);
    clock.advance(1);
    expect(await silenced(router), 'ended').toBe(false);
    const all = await post({ until: iso(START + 3 * HOUR_MS) });
    expect(all.body['data']).toMatchObject({ router_id: null, site_id: null, active_now: true, from: iso(START + HOUR_MS) });
    expect([await silenced(router), await silenced({ routerId: null, siteId: null })]).toEqual([true, true]);
    expect(await silenced(router, south)).toBe(false);
  });

  test('end when they are deleted, and with their router or site', async () => {
    const { id } = (await post({ router_id: routerId })).body['data'] as { id: string };
    expect(await app.ask(north, 'DELETE', `/api/silences/${id}`)).toMatchObject({ status: 204 });
    expect(await silenced({ routerId, siteId: null })).toBe(false);
    await post({ site_id: siteId });
    await storage.db.deleteFrom('sites').where('id', '=', siteId).execute();
    expect((await app.get(north, '/api/silences')).body['data']).toEqual([]);
  });

  test.each([
    ['until', { until: iso(START - 1), from: iso(START - 2) }],
    ['until', { until: iso(START + 1), from: iso(START + 1) }],
    ['until', { until: iso(START + 91 * DAY_MS) }],
    ['reason', { reason: ' ' }],
    ['router_id', { router_id: '01890000-0000-7000-8000-000000000000' }],
    ['site_id', { site_id: '01890000-0000-7000-8000-000000000000' }],
  ])('%s is refused by name: %j', async (field, body) => {
    expect(await post(body)).toMatchObject({ status: 422, body: { errors: { [field]: [expect.any(String)] } } });
  });

  test('of another team they do not exist, and its routers and sites are no reference', async () => {
    const { id } = (await post({ router_id: routerId })).body['data'] as { id: string };
    expect(await app.ask(south, 'DELETE', `/api/silences/${id}`)).toMatchObject({ status: 404 });
    expect((await app.get(south, '/api/silences')).body['data']).toEqual([]);
    expect(await post({ router_id: routerId }, south)).toMatchObject({ status: 422 });
    expect(await post({ site_id: siteId }, south)).toMatchObject({ status: 422 });
    expect(await post({ router_id: routerId, site_id: siteId })).toMatchObject({ status: 422 });
  });

  test('operators silence, viewers see', async () => {
    const body = { reason: 'x', until: iso(START + 1) };
    expect(await app.ask(north, 'POST', '/api/silences', body, 'viewer')).toMatchObject({ status: 403 });
    expect(await app.ask(north, 'POST', '/api/silences', body, 'operator')).toMatchObject({ status: 200 });
    expect(await app.ask(north, 'GET', '/api/silences', undefined, 'viewer')).toMatchObject({ status: 200 });
  });

  test('are kept for a while after their end, and then deleted', async () => {
    await post({});
    clock.advance(HOUR_MS + DAY_MS);
    await silences.sweep();
    expect((await app.get(north, '/api/silences')).body['data']).toMatchObject([{ active_now: false }]);
    clock.advance(1);
    await silences.sweep();
    expect((await app.get(north, '/api/silences')).body['data']).toEqual([]);
  });
});
