import { beforeEach, expect, test } from 'vitest';
import type { Devices, SeenDevice } from '../../protocol/index.ts';
import { agentRoutes } from '../../server/fleet/agents/routes.ts';
import { AgentsService } from '../../server/fleet/agents/service.ts';
import { CredentialsService } from '../../server/access/credentials/service.ts';
import { newId } from '../../server/platform/core/ids.ts';
import { deviceRoutes } from '../../server/fleet/devices/routes.ts';
import { DevicesService } from '../../server/fleet/devices/service.ts';
import { SitesService } from '../../server/fleet/sites/service.ts';
import { routerRoutes } from '../../server/fleet/routers/routes.ts';
import { RoutersService } from '../../server/fleet/routers/service.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { seedRouter } from '../harness/seed.ts';
import type { SeededRouter } from '../harness/seed.ts';
import { silentLog } from '../harness/silent-log.ts';
import { TeamApp } from '../harness/team-app.ts';

const PHONE = 'DE:6E:70:C0:CC:B2';
const PRINTER = '4C:5E:0C:AA:BB:01';
const UNKNOWN = '01890000-0000-7000-8000-000000000000';

describeEachDatabase('moving routers and agents between sites', (open) => {
  let storage: Storage;
  let clock: ManualClock;
  let routers: RoutersService;
  let devices: DevicesService;
  let app: TeamApp;
  /** Two routers behind one agent, and one of another team. */
  let first: SeededRouter;
  let second: SeededRouter;
  let stranger: SeededRouter;
  let depot: string;
  let office: string;

  beforeEach(async () => {
    storage = await open();
    clock = new ManualClock(1_700_000_000_000);
    routers = new RoutersService({ storage, clock, log: silentLog, rules: { offlineAfterMs: 75_000 } });
    devices = new DevicesService({ storage, clock, log: silentLog, routers, manufacturers: { lookup: async () => () => null } });
    const auth = new CredentialsService({ storage, clock, log: silentLog });
    const sites = new SitesService({ storage, clock });
    const gateway = { isConnected: () => false, disconnect: () => undefined };
    app = new TeamApp((scope) => {
      routerRoutes(scope, { routers, agents: new AgentsService(storage), states: { of: () => undefined }, sites, now: () => clock.now() });
      agentRoutes(scope, {
        agents: new AgentsService(storage),
        credentials: auth,
        sessions: { lines: async () => new Map() },
        gateway,
        sites,
        removals: { removeAgent: async () => 0 },
      });
      deviceRoutes(scope, { devices });
    });
    first = await seedRouter(storage);
    second = await seedRouter(storage, first);
    stranger = await seedRouter(storage);
    depot = await createSite('Depot', first.teamId);
    office = await createSite('Office', first.teamId);
    await routers.onReady(connection());
  });

  const connection = () => ({ agentId: first.agentId, teamId: first.teamId, epoch: 1, address: '', reset: false });
  const createSite = async (name: string, teamId: string): Promise<string> => {
    const id = newId(1);
    await storage.db
      .insertInto('sites')
      .values({ id, team_id: teamId, name, time_zone: null, latitude: null, longitude: null, created_at: 1 })
      .execute();
    return id;
  };
  const moveRouter = (router: SeededRouter, siteId: string | null, teamId = first.teamId) =>
    app.ask(teamId, 'PATCH', `/api/routers/${router.routerId}`, { site_id: siteId });
  const moveAgent = (change: object, teamId = first.teamId) => app.ask(teamId, 'PATCH', `/api/agents/${first.agentId}`, change);
  const siteOf = async ({ routerId }: SeededRouter) => (await routers.getRouter(first.teamId, routerId)).site_id;
  const sees = (router: SeededRouter, ...seen: SeenDevice[]): Promise<void> => {
    const report: Devices = {
      type: 'devices',
      router: `router ${router.routerId}`,
      kind: 'full',
      first: true,
      last: true,
      devices: seen,
      gone: [],
    };
    return devices.onDevices(connection(), report);
  };
  /** Where each device is known, and behind which router. */
  const known = async (): Promise<string[]> => {
    const { body } = await app.get(first.teamId, '/arp/devices');
    const name = new Map<unknown, string>([
      [null, 'nowhere'],
      [depot, 'Depot'],
      [office, 'Office'],
      [first.routerId, 'first'],
      [second.routerId, 'second'],
    ]);
    return (body['data'] as { mac_address: string; site_id: string | null; router_id: string }[])
      .map(
        (device) => `${device.mac_address === PHONE ? 'phone' : 'printer'} in ${name.get(device.site_id)} by ${name.get(device.router_id)}`,
      )
      .sort();
  };
  const phone: SeenDevice = { mac: PHONE, ip: '192.168.88.10', interface: 'bridge' };
  const printer: SeenDevice = { mac: PRINTER, ip: '192.168.88.20', interface: 'bridge' };

  test('a router is put into a site, into another and into none, and says so', async () => {
    for (const site of [depot, office, office, null]) {
      const moved = await moveRouter(first, site);
      expect(moved).toMatchObject({ status: 200, body: { data: { id: first.routerId, site_id: site } } });
      expect((await app.get(first.teamId, `/api/routers/${first.routerId}`)).body).toEqual(moved.body);
    }
    expect(await moveRouter(first, depot.toUpperCase())).toMatchObject({ body: { data: { site_id: depot } } });
    expect(await siteOf(second)).toBeNull();
  });

  test('its devices come along, with their past', async () => {
    await sees(first, phone, printer);
    const before = (await app.get(first.teamId, `/arp/devices/${PHONE}`)).body;
    await moveRouter(first, depot);
    expect(await known()).toEqual(['phone in Depot by first', 'printer in Depot by first']);
    expect((await app.get(first.teamId, `/arp/devices/${PHONE}`)).body).toEqual({ ...before, site_id: depot });
    await moveRouter(first, office);
    expect(await known()).toEqual(['phone in Office by first', 'printer in Office by first']);
    await sees(first, phone);
    await moveRouter(first, null);
    expect(await known()).toEqual(['phone in nowhere by first', 'printer in nowhere by first']);
  });

  test('what another router of the old site sees too stays there as well', async () => {
    await moveRouter(first, depot);
    await moveRouter(second, depot);
    await sees(first, phone, printer);
    await sees(second, printer);
    await moveRouter(first, office);
    expect(await known()).toEqual(['phone in Office by first', 'printer in Depot by second', 'printer in Office by first']);
  });

  test('what is known at the new site already becomes one device with it', async () => {
    await moveRouter(second, office);
    await sees(second, printer);
    await sees(first, phone, printer);
    await moveRouter(first, office);
    const rows = await storage.db.selectFrom('devices').select(['mac', 'place']).orderBy('mac').execute();
    expect(rows).toEqual([
      { mac: PRINTER, place: office },
      { mac: PHONE, place: office },
    ]);
    expect(await storage.db.selectFrom('device_sightings').select('router_id').execute()).toHaveLength(3);
    await sees(first, phone, printer);
    expect(await storage.db.selectFrom('devices').select('mac').execute()).toHaveLength(2);
  });

  test('an agent takes the routers along that stand where it stood', async () => {
    await moveRouter(second, office);
    const moved = await moveAgent({ site_id: depot });
    expect(moved).toMatchObject({ status: 200, body: { data: { id: first.agentId, site_id: depot } } });
    expect((await app.get(first.teamId, `/api/agents/${first.agentId}`)).body).toEqual(moved.body);
    expect([await siteOf(first), await siteOf(second)]).toEqual([depot, office]);
    await moveAgent({ site_id: office });
    expect([await siteOf(first), await siteOf(second)]).toEqual([office, office]);
  });

  test('an agent is renamed, and nothing else', async () => {
    expect(await moveAgent({ name: ' gw-depot ' })).toMatchObject({ body: { data: { name: 'gw-depot', site_id: null } } });
    expect(await moveAgent({})).toMatchObject({ status: 200, body: { data: { name: 'gw-depot' } } });
    expect(await moveAgent({ name: '' })).toMatchObject({ status: 422, body: { errors: { name: ['must not be empty'] } } });
  });

  test("a site that is not the team's is refused, a record of another team does not exist", async () => {
    const theirs = await createSite('Theirs', stranger.teamId);
    for (const site of [theirs, UNKNOWN]) {
      expect(await moveRouter(first, site)).toMatchObject({ status: 422, body: { errors: { site_id: ['is not a site of this team'] } } });
      expect(await moveAgent({ site_id: site })).toMatchObject({
        status: 422,
        body: { errors: { site_id: ['is not a site of this team'] } },
      });
    }
    expect(await moveRouter(first, theirs, stranger.teamId)).toMatchObject({ status: 404, body: { detail: 'router not found' } });
    expect(await moveAgent({ site_id: theirs }, stranger.teamId)).toMatchObject({ status: 404, body: { detail: 'agent not found' } });
    expect(await app.get(stranger.teamId, `/api/routers/${first.routerId}`)).toMatchObject({ status: 404 });
    expect(await app.get(stranger.teamId, `/api/agents/${first.agentId}`)).toMatchObject({ status: 404 });
    expect([await siteOf(first), await siteOf(second)]).toEqual([null, null]);
  });

  test('moving needs an administrator', async () => {
    expect(await app.ask(first.teamId, 'PATCH', `/api/routers/${first.routerId}`, { site_id: depot }, 'operator')).toMatchObject({
      status: 403,
    });
    expect(await app.ask(first.teamId, 'PATCH', `/api/agents/${first.agentId}`, { site_id: depot }, 'operator')).toMatchObject({
      status: 403,
    });
  });
});
