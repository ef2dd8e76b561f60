import { beforeEach, describe, expect, test } from 'vitest';
import type { Devices, SeenDevice } from '../../protocol/index.ts';
import { newId } from '../../server/platform/core/ids.ts';
import { Manufacturers } from '../../server/fleet/devices/manufacturers.ts';
import { deviceRoutes } from '../../server/fleet/devices/routes.ts';
import { DevicesService } from '../../server/fleet/devices/service.ts';
import { describeTruncation } from '../../server/fleet/devices/truncation.ts';
import { FaultsService } from '../../server/fleet/faults/service.ts';
import { RoutersService } from '../../server/fleet/routers/service.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { NO_STATES } from '../harness/faults-bench.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { seedRouter } from '../harness/seed.ts';
import type { SeededRouter } from '../harness/seed.ts';
import { silentLog } from '../harness/silent-log.ts';
import { TeamApp } from '../harness/team-app.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const START = 1_700_000_000_000;
const PHONE = 'DE:6E:70:C0:CC:B2';
const PRINTER = '4C:5E:0C:AA:BB:01';

const manufacturers = new Manufacturers();

describeEachDatabase('devices', (open) => {
  let storage: Storage;
  let clock: ManualClock;
  let routers: RoutersService;
  let devices: DevicesService;
  let app: TeamApp;
  let mine: SeededRouter;
  let other: SeededRouter;

  beforeEach(async () => {
    storage = await open();
    clock = new ManualClock(START);
    mine = await seedRouter(storage);
    other = await seedRouter(storage);
    routers = new RoutersService({ storage, clock, log: silentLog, rules: { offlineAfterMs: 75_000 } });
    devices = new DevicesService({ storage, clock, log: silentLog, routers, manufacturers });
    app = new TeamApp((scope) => deviceRoutes(scope, { devices }));
    await connect(mine);
    await connect(other);
  });

  const connection = (router: SeededRouter) => ({ agentId: router.agentId, teamId: router.teamId, epoch: 1, address: '', reset: false });
  const connect = async (router: SeededRouter): Promise<void> => {
    await routers.onReady(connection(router));
    alive(router);
  };
  /** The router has answered just now. */
  const alive = (router: SeededRouter): void =>
    routers.presence.record(router.routerId, { reachable: true, uptimeSeconds: 1, at: clock.now(), from: '' });
  const report = (parts: Partial<Devices>, router = mine) =>
    devices.onDevices(connection(router), {
      type: 'devices',
      router: `router ${router.routerId}`,
      kind: 'full',
      first: true,
      last: true,
      devices: [],
      gone: [],
      ...parts,
    });
  const delta = (parts: Partial<Devices>, router = mine) => report({ kind: 'delta', first: false, last: false, ...parts }, router);
  const list = async (query = '') => (await app.get(mine.teamId, `/arp/devices${query}`)).body['data'] as Record<string, unknown>[];
  const read = async (mac: string) => (await app.get(mine.teamId, `/arp/devices/${mac}`)).body;
  const name = (mac: string, alias: string) => app.ask(mine.teamId, 'PUT', `/arp/devices/${mac}`, { alias });
  const moment = (ms: number): string => new Date(START + ms).toISOString();
  const createSite = async (label: string): Promise<string> => {
    const id = newId(1);
    await storage.db
      .insertInto('sites')
      .values({ id, team_id: mine.teamId, name: label, time_zone: null, latitude: null, longitude: null, created_at: 1 })
      .execute();
    return id;
  };
  const standsIn = (router: SeededRouter, siteId: string) =>
    storage.db.updateTable('routers').set({ site_id: siteId }).where('id', '=', router.routerId).execute();
  const phone: SeenDevice = { mac: PHONE, ip: '192.168.88.10', interface: 'bridge', hostname: 'Galaxy-S8' };
  const printer: SeenDevice = { mac: PRINTER, ip: '192.168.88.20', interface: 'bridge' };

  describe('what a router sees', () => {
    test('becomes a device with every field', async () => {
      await report({ devices: [phone, printer] });
      expect(await read(PRINTER)).toEqual({
        mac_address: PRINTER,
        hostname: null,
        alias: null,
        manufacturer: 'Routerboard.com',
        locally_administered: false,
        site_id: null,
        current_ip: { ip_address: '192.168.88.20', interface: 'bridge', first_seen_at: moment(0), last_seen_at: moment(0) },
        router_id: mine.routerId,
        first_seen_at: moment(0),
        last_seen_at: moment(0),
      });
      expect(await read(PHONE)).toMatchObject({ hostname: 'Galaxy-S8', manufacturer: 'Locally administered', locally_administered: true });
    });

    test('is at the site of its router when the report is stored, also if the router was moved meanwhile', async () => {
      const depot = await createSite('Depot');
      const lookup = async () => {
        await standsIn(mine, depot);
        return manufacturers.lookup();
      };
      devices = new DevicesService({ storage, clock, log: silentLog, routers, manufacturers: { lookup } });
      await report({ devices: [printer] });
      expect(await read(PRINTER)).toMatchObject({ site_id: depot });
    });

    test('is last seen when its router last answered, without a word about the device', async () => {
      await report({ devices: [phone] });
      clock.advance(30 * MINUTE);
      alive(mine);
      clock.advance(5 * MINUTE);
      expect(await read(PHONE)).toMatchObject({
        last_seen_at: moment(30 * MINUTE),
        current_ip: { first_seen_at: moment(0), last_seen_at: moment(30 * MINUTE) },
      });
    });

    test('is last seen when it went', async () => {
      await report({ devices: [phone] });
      clock.advance(30 * MINUTE);
      await delta({ gone: [PHONE, PRINTER] });
      clock.advance(30 * MINUTE);
      alive(mine);
      expect(await read(PHONE)).toMatchObject({ last_seen_at: moment(30 * MINUTE) });
    });

    test('keeps its host name and counts a new address from its first moment', async () => {
      await report({ devices: [phone] });
      clock.advance(MINUTE);
      await delta({ devices: [{ mac: PHONE, ip: '192.168.88.11', interface: 'wifi1' }] });
      clock.advance(MINUTE);
      await delta({ devices: [{ mac: PHONE, ip: '192.168.88.11', interface: 'wifi2' }] });
      expect(await read(PHONE)).toMatchObject({
        hostname: 'Galaxy-S8',
        first_seen_at: moment(0),
        current_ip: { ip_address: '192.168.88.11', interface: 'wifi2', first_seen_at: moment(MINUTE), last_seen_at: moment(2 * MINUTE) },
      });
    });

    test('may have been there before: a lease without an answering device', async () => {
      clock.advance(60 * MINUTE);
      await report({ devices: [{ ...phone, seen_ago: 1800 }] });
      alive(mine);
      expect(await read(PHONE)).toMatchObject({ first_seen_at: moment(30 * MINUTE), last_seen_at: moment(30 * MINUTE) });
    });

    test('and has only a lease left was last seen when it left the ARP table, where it was', async () => {
      await report({ devices: [phone] });
      clock.advance(30 * MINUTE);
      await delta({ devices: [{ mac: PHONE, ip: '192.168.88.10', hostname: 'Galaxy-S8', seen_ago: 900 }] });
      expect(await read(PHONE)).toMatchObject({
        last_seen_at: moment(30 * MINUTE),
        current_ip: { interface: 'bridge', first_seen_at: moment(0) },
      });
    });

    test('that a new report of everything does not name was last seen when the agent was', async () => {
      await report({ devices: [phone, printer] });
      clock.advance(30 * MINUTE);
      alive(mine);
      devices.onGone(connection(mine));
      await devices.sweep();
      clock.advance(DAY);
      await report({ devices: [printer], last: false });
      await report({ devices: [], first: false });
      expect(await read(PHONE)).toMatchObject({ last_seen_at: moment(30 * MINUTE) });
      expect(await read(PRINTER)).toMatchObject({ last_seen_at: moment(30 * MINUTE + DAY) });
    });

    test('does not end because a part of a report was lost', async () => {
      await report({ devices: [phone, printer] });
      await report({ devices: [printer], last: false });
      const { writes } = storage;
      Object.assign(storage, { writes: { write: () => Promise.reject(new Error('disk full')) } });
      await expect(report({ devices: [phone], first: false, last: false })).rejects.toThrow('disk full');
      Object.assign(storage, { writes });
      await report({ first: false });
      clock.advance(MINUTE);
      alive(mine);
      expect(await read(PHONE)).toMatchObject({ last_seen_at: moment(MINUTE) });
    });

    test('survives a restart of the control plane', async () => {
      await report({ devices: [phone] });
      clock.advance(5 * MINUTE);
      alive(mine);
      await devices.stop();
      devices = new DevicesService({ storage, clock, log: silentLog, routers, manufacturers });
      app = new TeamApp((scope) => deviceRoutes(scope, { devices }));
      clock.advance(DAY);
      expect(await read(PHONE)).toMatchObject({ last_seen_at: moment(5 * MINUTE) });
    });
  });

  describe('places', () => {
    test('two routers at a site see one device; the newest sighting tells the address', async () => {
      const second = await seedRouter(storage, { teamId: mine.teamId });
      const site = await createSite('Riga');
      await standsIn(mine, site);
      await standsIn(second, site);
      await connect(second);
      await report({ devices: [phone] });
      clock.advance(MINUTE);
      await report({ devices: [{ ...phone, interface: 'vrrp1' }] }, second);
      expect(await list()).toMatchObject([{ site_id: site, router_id: second.routerId, current_ip: { interface: 'vrrp1' } }]);
      await delta({ gone: [PHONE] }, second);
      clock.advance(MINUTE);
      alive(mine);
      expect(await list()).toMatchObject([
        { router_id: mine.routerId, last_seen_at: moment(2 * MINUTE), current_ip: { interface: 'bridge' } },
      ]);
    });

    test('a router that is put into a site takes its devices and their history along', async () => {
      await report({ devices: [phone] });
      const site = await createSite('Riga');
      await standsIn(mine, site);
      clock.advance(MINUTE);
      await report({ devices: [phone, printer] });
      expect(await list()).toMatchObject([{ mac_address: PRINTER }, { mac_address: PHONE, site_id: site, first_seen_at: moment(0) }]);
      expect(await list(`?site_id=${site}`)).toHaveLength(2);
      expect(await list(`?site_id=${newId(1)}`)).toHaveLength(0);
    });

    test('a device that travels has the same name everywhere, and is where it was seen last', async () => {
      const second = await seedRouter(storage, { teamId: mine.teamId });
      await standsIn(mine, await createSite('Riga'));
      const vilnius = await createSite('Vilnius');
      await standsIn(second, vilnius);
      await connect(second);
      await report({ devices: [phone] });
      await name(PHONE, "Anna's phone");
      clock.advance(MINUTE);
      await delta({ gone: [PHONE] });
      clock.advance(MINUTE);
      await report({ devices: [phone] }, second);
      expect(await read(PHONE)).toMatchObject({ alias: "Anna's phone", site_id: vilnius });
      expect((await list()).map((device) => device['alias'])).toEqual(["Anna's phone", "Anna's phone"]);
    });
  });

  describe('aliases', () => {
    beforeEach(() => report({ devices: [phone, printer] }));

    test.each(['4c:5e:0c:aa:bb:01', '4C-5E-0C-AA-BB-01', '4c5e.0caa.bb01', '4C5E0CAABB01'])('are set by %s', async (spelling) => {
      const { status, body } = await name(spelling, ' Printer, 2nd floor ');
      expect(status).toBe(200);
      expect(body).toMatchObject({ mac_address: PRINTER, alias: 'Printer, 2nd floor', hostname: null });
      expect(await read(spelling)).toMatchObject({ alias: 'Printer, 2nd floor' });
    });

    test('are replaced, cleared by an empty one, and outlive a new report', async () => {
      await name(PRINTER, 'one');
      await name(PRINTER, 'two');
      await report({ devices: [printer] });
      expect(await read(PRINTER)).toMatchObject({ alias: 'two' });
      expect((await name(PRINTER, '')).body).toMatchObject({ alias: null });
    });

    test('have at most 255 characters', async () => {
      expect((await name(PRINTER, 'x'.repeat(255))).status).toBe(200);
      expect((await name(PRINTER, 'x'.repeat(256))).body).toMatchObject({ status: 422, errors: { alias: [expect.any(String)] } });
    });

    test('need a device that the team has seen, a MAC address and the right', async () => {
      await report({ devices: [{ mac: 'AA:AA:AA:AA:AA:AA' }] }, other);
      expect((await name('AA:AA:AA:AA:AA:AA', 'x')).status).toBe(404);
      expect((await app.get(mine.teamId, '/arp/devices/AA:AA:AA:AA:AA:AA')).status).toBe(404);
      expect((await name('printer', 'x')).body).toMatchObject({ status: 422, errors: { macAddress: ['is not a MAC address'] } });
      expect((await app.ask(mine.teamId, 'PUT', `/arp/devices/${PRINTER}`, { alias: 'x' }, 'viewer')).status).toBe(403);
      expect((await app.ask(mine.teamId, 'PUT', `/arp/devices/${PRINTER}`, {})).status).toBe(422);
    });
  });

  describe('lists', () => {
    beforeEach(async () => {
      await report({ devices: [phone, printer, { mac: '00:1B:C5:00:00:01', ip: '10.0.0.7', hostname: '100%_sure' }] });
      await name(PRINTER, 'Drucker');
    });

    test.each([
      ['galaxy', [PHONE]],
      ['DRUCK', [PRINTER]],
      ['routerboard', [PRINTER]],
      ['192.168.88.2', [PRINTER]],
      ['4c5e.0c', [PRINTER]],
      ['c0-cc-b2', [PHONE]],
      ['0%_s', ['00:1B:C5:00:00:01']],
      ['_su', ['00:1B:C5:00:00:01']],
      ['ga', [PHONE]],
      ['_', []],
      ['1', ['00:1B:C5:00:00:01', PRINTER, PHONE]],
      ['nothing', []],
      ["' or 1=1", []],
    ])('are searched: %j', async (search, macs) => {
      const found = await list(`?search=${encodeURIComponent(search)}`);
      expect(found.map((device) => device['mac_address'])).toEqual(macs);
    });

    test('come in pages', async () => {
      clock.advance(MINUTE);
      await delta({ devices: [{ mac: '02:00:00:00:00:01' }, { mac: '02:00:00:00:00:02' }] });
      const all = (await list()).map((device) => device['mac_address']);
      const seen: unknown[] = [];
      let url: string | undefined = '/arp/devices?limit=2';
      while (url !== undefined) {
        const { body, headers } = await app.get(mine.teamId, url);
        seen.push(...(body['data'] as { mac_address: string }[]).map((device) => device.mac_address));
        url = /<([^>]+)>; rel="next"/.exec(String(headers['link']))?.[1];
      }
      expect(seen).toEqual(all);
      expect(new Set(seen).size).toBe(5);
    });

    test('of one router are those that it sees or has seen', async () => {
      const second = await seedRouter(storage, { teamId: mine.teamId });
      await connect(second);
      await report({ devices: [{ mac: '02:00:00:00:00:09' }] }, second);
      await delta({ gone: [PHONE] });
      const macsOf = async (routerId: string) => new Set((await list(`?router_id=${routerId}`)).map((device) => device['mac_address']));
      expect(await macsOf(second.routerId)).toEqual(new Set(['02:00:00:00:00:09']));
      expect(await macsOf(mine.routerId)).toEqual(new Set(['00:1B:C5:00:00:01', PRINTER, PHONE]));
      expect(await macsOf(other.routerId)).toEqual(new Set());
      const refused = await app.get(mine.teamId, `/arp/devices?router_id=${second.routerId}&search=x`);
      expect(refused.body).toMatchObject({ status: 422, errors: { search: ['cannot be combined with router_id'] } });
    });

    test("do not show another team's devices", async () => {
      expect((await app.get(other.teamId, '/arp/devices')).body).toEqual({ status: 'success', data: [] });
    });
  });

  test('an old device is deleted, however many old ones with a name stand before it', async () => {
    const macs = Array.from(
      { length: 1100 },
      (_, n) =>
        `02:00:00:00:${[n >> 8, n & 255]
          .map((part) => part.toString(16).padStart(2, '0'))
          .join(':')
          .toUpperCase()}`,
    );
    for (let from = 0; from < macs.length; from += 100) await delta({ devices: macs.slice(from, from + 100).map((mac) => ({ mac })) });
    const stored = await storage.db.selectFrom('devices').select(['mac', 'team_id']).orderBy('id').execute();
    const last = stored.pop()!;
    await storage.db
      .insertInto('device_aliases')
      .values(stored.map(({ mac, team_id }) => ({ mac, team_id, alias: 'x', updated_at: 0 })))
      .execute();
    await delta({ gone: [last.mac] });
    clock.advance(184 * DAY);
    await devices.sweep();
    expect((await storage.db.selectFrom('devices').select('mac').orderBy('id').execute()).map(({ mac }) => mac)).toEqual(
      stored.map(({ mac }) => mac),
    );
  });

  test('devices that were not seen for half a year are deleted unless they have a name', async () => {
    await report({ devices: [phone, printer, { mac: '02:00:00:00:00:01' }] });
    await name(PRINTER, 'Printer');
    await delta({ gone: [PHONE, PRINTER] });
    await devices.sweep();
    clock.advance(181 * DAY);
    await devices.sweep();
    expect(await list()).toHaveLength(3);
    clock.advance(2 * DAY);
    await devices.sweep();
    expect((await list()).map((device) => device['mac_address']).sort((a, b) => String(a).localeCompare(String(b)))).toEqual([
      '02:00:00:00:00:01',
      PRINTER,
    ]);
  });

  test('devices that are deleted make room, also when their router reports meanwhile', async () => {
    let meanwhile: (() => Promise<void>) | undefined;
    const write: Storage['writes']['write'] = async (work) => {
      const first = meanwhile;
      meanwhile = undefined;
      await first?.();
      return storage.writes.write(work);
    };
    const watched = { ...storage, db: storage.db, writes: { ...storage.writes, write } };
    devices = new DevicesService({ storage: watched, clock, log: silentLog, routers, manufacturers, rules: { perRouter: 2 } });
    await delta({ devices: [phone, printer] });
    await delta({ gone: [PHONE, PRINTER] });
    clock.advance(183 * DAY);
    const tablet: SeenDevice = { mac: 'DE:6E:70:C0:CC:B3' };
    meanwhile = () => delta({ devices: [tablet] });
    await devices.sweep();
    expect(await storage.db.selectFrom('devices').select('mac').execute()).toEqual([]);
    await delta({ devices: [tablet] });
    expect(await storage.db.selectFrom('devices').select('mac').execute()).toEqual([{ mac: tablet.mac }]);
  });

  test('a site with 5,000 devices', async () => {
    const many = Array.from({ length: 5000 }, (_, index): SeenDevice => ({
      mac: `00:1B:C5:${[16, 8, 0].map((shift) => ((index >> shift) & 255).toString(16).padStart(2, '0').toUpperCase()).join(':')}`,
      ip: `10.0.${index >> 8}.${index & 255}`,
      interface: 'bridge',
      hostname: `host-${index}`,
    }));
    const send = async (): Promise<void> => {
      for (let start = 0; start < many.length; start += 500) {
        await report({ devices: many.slice(start, start + 500), first: start === 0, last: start + 500 >= many.length });
      }
    };
    await send();
    await send();
    expect(await list('?limit=1000')).toHaveLength(1000);
    expect(await list('?search=host-4999')).toHaveLength(1);
  });

  test('beyond what is kept: a fault says how many there are, and is over when all are kept', async () => {
    const faults = new FaultsService({
      storage,
      clock,
      log: silentLog,
      rules: { heartbeatMs: MINUTE, offlineAfterMs: MINUTE },
      states: NO_STATES,
      routers,
    });
    await faults.start();
    devices = new DevicesService({
      storage,
      clock,
      log: silentLog,
      routers,
      manufacturers,
      onTotal: (id, total) => faults.setCondition(id, 'devices_truncated', describeTruncation(total)),
    });
    const listed = async () => {
      await faults.stored();
      const found = await faults.listFaults(mine.teamId, mine.routerId, { limit: 10, before: undefined });
      return found.map(({ type, severity, cause, resolved_at: at }) => ({ type, severity, cause, isOpen: at === null }));
    };
    await report({ last: false, total: 100_000 });
    expect(await listed()).toEqual([]);
    await report({ first: false, total: 100_000 });
    expect(await listed()).toEqual([
      {
        type: 'devices_truncated',
        severity: 'info',
        cause: expect.stringMatching(/list 100000 devices, and at most 20000 /),
        isOpen: true,
      },
    ]);
    expect(devices.truncated).toBe(1);
    await delta({});
    expect(await listed()).toMatchObject([{ isOpen: false }]);
    expect(devices.truncated).toBe(0);
    await faults.stop();
  });
});
