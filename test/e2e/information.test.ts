import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { waitUntil } from '../harness/wait-until.ts';
import { World } from '../harness/world.ts';

type Row = Record<string, unknown>;

let world: World;
let ids: string[];
beforeAll(async () => {
  world = await World.start({
    routers: [
      { version: '7.18.2', model: 'hEX', gps: { latitude: '56.969689', longitude: '24.162471' }, timeZone: 'Europe/Riga' },
      { version: '6.49.18', model: 'CHR' },
      { version: '7.18.2', apiPort: null, managementAddress: '10.99.0.1' },
    ],
    readEveryMs: 100,
  });
  ids = await world.routerIds();
});
afterAll(async () => world.close());

const get = async (path: string): Promise<Row[]> => (await world.caller.call<{ data: Row[] }>('GET', path)).body.data;
const getOne = async (path: string): Promise<Row> => (await world.caller.call<{ data: Row }>('GET', path)).body.data;
const table = (index: number, menu: string) => world.simulators[index]!.router.table(menu);

describe('what is known of a router', () => {
  test('OEM information comes from the catalogue', async () => {
    expect(await getOne(`/api/routers/${ids[0]}/oem`)).toMatchObject({ name: 'hEX', model: 'RB750Gr3', cpu: 'MT7621A', archived: false });
    expect(await getOne(`/api/routers/${ids[1]}/oem`)).toMatchObject({ name: 'Cloud Hosted Router (CHR)', cpu: null });
  });

  test('metadata has the time zone, the tunnel and the position of the receiver', async () => {
    const metadata = await waitUntil('the position is known', async () => {
      const found = await getOne(`/api/routers/${ids[0]}/metadata`);
      return found['lat'] === null ? undefined : found;
    });
    expect(metadata).toMatchObject({
      name: 'router-0',
      boardname: 'hEX',
      model: 'RB750Gr3',
      hardware_board: true,
      timezone: 'Europe/Riga',
      slug: 'RB750Gr3',
      lat: 56.969689,
      lng: 24.162471,
      location_origin: 'gps',
      tunnel_ip: '127.0.0.1',
      last_seen_from: '127.0.0.1',
    });
    expect(await getOne(`/api/routers/${ids[1]}/metadata`)).toMatchObject({
      hardware_board: false,
      lat: null,
      lng: null,
      location_origin: null,
    });
  });

  test("another team's routers do not exist", async () => {
    const other = await world.addTeam('Other');
    for (const what of ['oem', 'metadata', 'faults']) {
      expect((await other.call('GET', `/api/routers/${ids[0]}/${what}`)).status).toBe(404);
    }
    expect((await other.call<{ data: Row[] }>('GET', '/arp/devices')).body.data).toEqual([]);
  });
});

describe('the devices behind a router', () => {
  test('are those of its ARP table and leases', async () => {
    const found = await waitUntil('the devices are known', async () => {
      const list = await get('/arp/devices');
      return list.length >= 8 && list;
    });
    expect(found.find((device) => device['hostname'] === 'raspberrypi')).toMatchObject({
      mac_address: 'DC:A6:32:0B:44:7F',
      manufacturer: expect.stringContaining('Raspberry Pi') as string,
      alias: null,
      // The simulated sites have the same hosts; a device is where it was seen last.
      current_ip: { ip_address: expect.stringMatching(/^(192\.168\.88|10\.99\.0)\.12$/) as string, interface: 'bridge' },
    });
  });

  test('are known of a router that has only SSH', async () => {
    const found = await waitUntil('the devices are known', async () => {
      const list = await get('/arp/devices?search=10.99.0.');
      return list.length >= 3 && list;
    });
    expect(found).toContainEqual(expect.objectContaining({ hostname: 'Galaxy-S8', router_id: ids[2] }));
  });

  test('follow changes on the router', async () => {
    const mac = '4C:5E:0C:00:00:99';
    const row = {
      address: '192.168.88.99',
      'mac-address': mac,
      interface: 'bridge',
      complete: 'true',
      disabled: 'false',
      status: 'reachable',
    };
    table(0, '/ip/arp').add(new Map(Object.entries(row)));
    const device = await waitUntil('the new device is there', async () => {
      const { status, body } = await world.caller.call('GET', `/arp/devices/${mac}`);
      return status === 200 && body;
    });
    expect(device).toMatchObject({ manufacturer: 'Routerboard.com', current_ip: { ip_address: '192.168.88.99' } });
  });

  test('have the aliases that users give them', async () => {
    const named = await world.caller.call('PUT', '/arp/devices/dca6.320b.447f', { alias: 'Weather station' });
    expect(named).toMatchObject({ status: 200, body: { mac_address: 'DC:A6:32:0B:44:7F', alias: 'Weather station' } });
    expect(await get('/arp/devices?search=weather')).not.toEqual([]);
    expect((await world.caller.call('PUT', '/arp/devices/00:00:00:00:00:01', { alias: 'x' })).status).toBe(404);
  });
});

describe('faults', () => {
  const faultOf = (index: number, type: string, status: string) =>
    waitUntil(`${type} is ${status}`, async () =>
      (await get(`/api/routers/${ids[index]}/faults?status=${status}`)).find((fault) => fault['type'] === type),
    );

  test('report a provider line that goes down and comes back', async () => {
    const ether1 = table(0, '/interface').find('name', 'ether1')!;
    ether1.values.set('link', 'down');
    expect(await faultOf(0, 'wan_down', 'open')).toMatchObject({ severity: 'critical', message: 'WAN interface ether1 down', rid: ids[0] });
    ether1.values.delete('link');
    expect(await faultOf(0, 'wan_down', 'resolved')).toMatchObject({ resolved_at: expect.any(String) as string });
  });

  test.each([
    ['rows of version 7', 0],
    ['the record of version 6', 1],
  ])('report a failed power supply and fan, in %s', async (_format, index) => {
    const simulator = world.simulators[index]!;
    simulator.setSensor('psu1-state', 'ok');
    simulator.setSensor('psu2-state', 'fail');
    simulator.setSensor('fan1-speed', '4500');
    simulator.setSensor('fan2-speed', '0');
    const power = await faultOf(index, 'power_supply_failed', 'open');
    expect(power).toMatchObject({ severity: 'warning', message: 'Power supply psu2 failed', cause: 'psu2-state is fail' });
    expect(await faultOf(index, 'fan_failed', 'open')).toMatchObject({
      message: 'Fan fan2 failed',
      cause: 'fan2-speed is 0 RPM while others turn',
    });
    simulator.setSensor('psu2-state', 'ok');
    simulator.setSensor('fan2-speed', '4400');
    await faultOf(index, 'power_supply_failed', 'resolved');
    await faultOf(index, 'fan_failed', 'resolved');
  });

  test('report a lost clock', async () => {
    const { clock } = world.simulators[1]!.router;
    clock.setUtc(86_400_000);
    expect(await faultOf(1, 'clock_wrong', 'open')).toMatchObject({ cause: expect.stringMatching(/^it is \d+ years .*behind$/) as string });
    clock.setUtc(Date.now());
    await faultOf(1, 'clock_wrong', 'resolved');
  });

  test('report a reboot and the time offline', async () => {
    const rebooting = world.simulators[1]!.reboot({ downMs: 4500 });
    expect(await faultOf(1, 'router_offline', 'open')).toMatchObject({ severity: 'critical', resolved_at: null });
    await rebooting;
    expect(await faultOf(1, 'router_offline', 'resolved')).toMatchObject({ duration: expect.any(Number) as number });
    expect(await faultOf(1, 'rebooted', 'resolved')).toMatchObject({
      severity: 'info',
      cause: expect.stringMatching(/^its uptime went back from /) as string,
    });
  });

  test('report an offline agent', async () => {
    await world.agent!.close();
    expect(await faultOf(0, 'agent_offline', 'open')).toMatchObject({ severity: 'critical' });
    await world.startAgent();
    await faultOf(0, 'agent_offline', 'resolved');
    expect(await get(`/api/routers/${ids[0]}/faults?status=open`)).toEqual([]);
  });
});
