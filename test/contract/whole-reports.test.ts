import { expect, test } from 'vitest';
import type { Devices, SeenDevice } from '../../protocol/index.ts';
import type { DeviceRules } from '../../server/fleet/devices/limits.ts';
import { DevicesService } from '../../server/fleet/devices/service.ts';
import { confirmReports, upsertSighted } from '../../server/fleet/devices/store.ts';
import type { SightedDevice } from '../../server/fleet/devices/store.ts';
import { compareWithStored, markUnreported } from '../../server/fleet/devices/whole-report/store.ts';
import { UnchangedReports } from '../../server/fleet/devices/whole-report/unchanged.ts';
import type { AgentReport } from '../../server/fleet/devices/whole-report/unchanged.ts';
import { PresenceTracker } from '../../server/fleet/routers/presence.ts';
import { AppError } from '../../server/platform/core/errors.ts';
import { newId } from '../../server/platform/core/ids.ts';
import type { Storage, WriteQueue } from '../../server/platform/storage/db.ts';
import { countStatements } from '../harness/count-statements.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { seedAgent, seedRouter, seedTeam } from '../harness/seed.ts';
import type { SeededRouter } from '../harness/seed.ts';
import { silentLog } from '../harness/silent-log.ts';

const NOW = 1_700_000_000_000;

function sighted(mac: string, change: Partial<SightedDevice> = {}): SightedDevice {
  return {
    newId: newId(NOW),
    mac,
    hostname: 'till',
    manufacturer: 'Apple, Inc.',
    ipAddress: '192.168.88.10',
    interface: 'bridge',
    present: true,
    seenAt: NOW,
    ...change,
  };
}

const [ONE, TWO] = ['AA:00:00:00:00:01', 'AA:00:00:00:00:02'];

describeEachDatabase('a report of all devices', (open) => {
  async function world() {
    const storage = await open();
    const { teamId, routerId } = await seedRouter(storage);
    const scope = { teamId, routerId, siteId: null };
    await storage.writes.write(async (tx) => {
      await upsertSighted(tx, scope, [sighted(ONE), sighted(TWO)], NOW);
      await confirmReports(tx, [{ routerId, at: NOW + 5000 }]);
    });
    return { storage, scope };
  }

  test('that says what is stored changes nothing', async () => {
    const { storage, scope } = await world();
    const again = [sighted(ONE, { seenAt: NOW + 1 }), sighted(TWO)];
    expect(await compareWithStored(storage.db, scope, again)).toEqual({ changed: [], gone: [] });
    // A lease without an interface, and a device whose lease has ended: what is known stays.
    const sparse = [sighted(ONE, { interface: null }), sighted(TWO, { hostname: null })];
    expect(await compareWithStored(storage.db, scope, sparse)).toEqual({ changed: [], gone: [] });
  });

  test.each<[string, Partial<SightedDevice>]>([
    ['address', { ipAddress: '192.168.88.11' }],
    ['interface', { interface: 'ether2' }],
    ['host name', { hostname: 'office' }],
    ['manufacturer', { manufacturer: null }],
    ['presence', { present: false }],
  ])('with another %s changes this device', async (_what, change) => {
    const { storage, scope } = await world();
    const other = sighted(ONE, change);
    expect(await compareWithStored(storage.db, scope, [other, sighted(TWO)])).toEqual({ changed: [other], gone: [] });
  });

  test('has new devices, and those that have gone left when the report before was last confirmed', async () => {
    const { storage, scope } = await world();
    const fresh = sighted('AA:00:00:00:00:03');
    const { changed, gone } = await compareWithStored(storage.db, scope, [sighted(ONE), fresh]);
    expect(changed).toEqual([fresh]);
    expect(gone).toHaveLength(1);
    await storage.writes.write((tx) => markUnreported(tx, scope, gone));
    const left = await storage.db
      .selectFrom('device_sightings')
      .innerJoin('devices', 'devices.id', 'device_sightings.device_id')
      .select(['devices.mac', 'device_sightings.present', 'device_sightings.last_seen_at'])
      .orderBy('devices.mac')
      .execute();
    expect(left).toEqual([
      { mac: ONE, present: 1, last_seen_at: NOW },
      { mac: TWO, present: 0, last_seen_at: NOW + 5000 },
    ]);
  });

  test('of a router that has moved to another site tells its devices anew', async () => {
    const { storage, scope } = await world();
    const siteId = newId(NOW);
    await storage.db.insertInto('sites').values({ id: siteId, team_id: scope.teamId, name: 'depot', created_at: NOW }).execute();
    const { changed, gone } = await compareWithStored(storage.db, { ...scope, siteId }, [sighted(ONE)]);
    expect(changed.map(({ mac }) => mac)).toEqual([ONE]);
    expect(gone).toHaveLength(2);
  });
});

describeEachDatabase('whole reports of many routers at once', (open) => {
  const ROUTERS = 30;

  async function fleet() {
    const stored = await open();
    const first = await seedRouter(stored);
    const { teamId } = first;
    const routers = [first];
    for (let count = 1; count < ROUTERS; count += 1)
      routers.push(await seedRouter(stored, { teamId, agentId: await seedAgent(stored, teamId) }));
    let writes = 0;
    const counting: WriteQueue = {
      write: (work) => {
        writes += 1;
        return stored.writes.write(work);
      },
    };
    const storage: Storage = { ...stored, writes: counting };
    const clock = new ManualClock(NOW);
    const start = () =>
      new DevicesService({
        storage,
        clock,
        log: silentLog,
        // Each agent has one router, and calls it by its id.
        routers: { routerIdOf: (_agentId, name) => name, presence: new PresenceTracker({ offlineAfterMs: 75_000 }, clock) },
        manufacturers: { lookup: async () => () => null },
      });
    let devices = start();
    const report = ({ agentId, routerId }: SeededRouter, seen: SeenDevice[]) => {
      const message: Devices = { type: 'devices', router: routerId, kind: 'full', first: true, last: true, devices: seen, gone: [] };
      return devices.onDevices({ agentId, teamId, epoch: 1, address: '', reset: false }, message);
    };
    const seenBy = (router: SeededRouter): SeenDevice[] => [ONE, TWO].map((mac) => ({ mac, ip: `10.0.0.${routers.indexOf(router) + 1}` }));
    await Promise.all(routers.map((router) => report(router, seenBy(router))));
    // As after a restart: what was counted is forgotten.
    await devices.stop();
    devices = start();
    clock.advance(60_000);
    writes = 0;
    return { storage, clock, teamId, routers, report, seenBy, writes: () => writes };
  }

  const confirmedAt = async ({ db }: Storage): Promise<Map<string, number>> =>
    new Map((await db.selectFrom('device_reports').selectAll().execute()).map((row) => [row.router_id, row.confirmed_at]));

  test('that say what is stored take one write together, and are all confirmed', async () => {
    const { storage, clock, routers, report, seenBy, writes } = await fleet();
    await Promise.all(routers.map((router) => report(router, seenBy(router))));
    expect(writes()).toBe(1);
    expect([...(await confirmedAt(storage)).values()]).toEqual(Array.from({ length: ROUTERS }, () => clock.now()));
  });

  test('of which some say something new store that, and confirm the others', async () => {
    const { storage, clock, routers, report, seenBy, writes } = await fleet();
    const [moved, lost] = routers as [SeededRouter, SeededRouter];
    const say = (router: SeededRouter): SeenDevice[] => {
      if (router === moved) return [{ mac: ONE, ip: '10.9.9.9' }, ...seenBy(router).slice(1)];
      return router === lost ? seenBy(router).slice(0, 1) : seenBy(router);
    };
    await Promise.all(routers.map((router) => report(router, say(router))));
    expect(writes()).toBe(3);
    expect([...(await confirmedAt(storage)).values()]).toEqual(Array.from({ length: ROUTERS }, () => clock.now()));
    const gone = await storage.db.selectFrom('device_sightings').select('router_id').where('present', '=', 0).execute();
    expect(gone).toEqual([{ router_id: lost.routerId }]);
    const addressed = await storage.db.selectFrom('device_sightings').select('router_id').where('ip_address', '=', '10.9.9.9').execute();
    expect(addressed).toEqual([{ router_id: moved.routerId }]);
  });

  test('bring the devices of a router along that stands at a site now', async () => {
    const { storage, teamId, routers, report, seenBy } = await fleet();
    const [moved] = routers as [SeededRouter];
    const siteId = newId(NOW);
    await storage.db.insertInto('sites').values({ id: siteId, team_id: teamId, name: 'depot', created_at: NOW }).execute();
    await storage.db.updateTable('routers').set({ site_id: siteId }).where('id', '=', moved.routerId).execute();
    await Promise.all(routers.map((router) => report(router, seenBy(router))));
    const there = await storage.db.selectFrom('devices').select('mac').where('place', '=', siteId).orderBy('mac').execute();
    expect(there).toEqual([{ mac: ONE }, { mac: TWO }]);
  });

  test('are rejected for a router that was removed, and for no other', async () => {
    const { storage, clock, routers, report, seenBy } = await fleet();
    const [removed, ...others] = routers as [SeededRouter, ...SeededRouter[]];
    await storage.db.updateTable('routers').set({ removed_at: NOW }).where('id', '=', removed.routerId).execute();
    const outcomes = await Promise.allSettled(routers.map((router) => report(router, seenBy(router))));
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', ...others.map(() => 'fulfilled')]);
    const confirmed = await confirmedAt(storage);
    expect(others.map(({ routerId }) => confirmed.get(routerId))).toEqual(others.map(() => clock.now()));
  });
});

describeEachDatabase('the first reports of many routers', (open) => {
  const ROUTERS = 20;

  async function fleet(rules: DeviceRules = {}) {
    const storage = await open();
    const { teamId } = await seedTeam(storage);
    const siteId = newId(NOW);
    await storage.db.insertInto('sites').values({ id: siteId, team_id: teamId, name: 'depot', created_at: NOW }).execute();
    const routers: SeededRouter[] = [];
    for (let count = 0; count < ROUTERS; count += 1)
      routers.push(await seedRouter(storage, { teamId, agentId: await seedAgent(storage, teamId) }));
    // The first ones stand at one site and see the same devices; what one of them knows of a device, the other may not.
    const atSite = routers.slice(0, 4).map(({ routerId }) => routerId);
    await storage.db.updateTable('routers').set({ site_id: siteId }).where('id', 'in', atSite).execute();
    const clock = new ManualClock(NOW);
    const devices = new DevicesService({
      storage,
      clock,
      log: silentLog,
      routers: { routerIdOf: (_agentId, name) => name, presence: new PresenceTracker({ offlineAfterMs: 75_000 }, clock) },
      manufacturers: { lookup: async () => () => null },
      rules,
    });
    const report = (index: number, seen: SeenDevice[]) => {
      const { agentId, routerId } = routers[index]!;
      const message: Devices = { type: 'devices', router: routerId, kind: 'full', first: true, last: true, devices: seen, gone: [] };
      return devices.onDevices({ agentId, teamId, epoch: 1, address: '', reset: false }, message);
    };
    const seenBy = (index: number): SeenDevice[] => [
      { mac: ONE, ip: `10.0.0.${index + 1}`, ...(index % 2 === 0 ? { hostname: `till ${index}` } : { interface: 'ether2' }) },
      { mac: TWO, seen_ago: 60 * index },
      ...(index === 7 ? [] : [{ mac: `AA:00:00:00:01:${String(index).padStart(2, '0')}`, ip: '10.0.1.1' }]),
    ];
    const stored = async () => ({
      devices: await storage.db
        .selectFrom('devices')
        .innerJoin('device_sightings', 'device_sightings.device_id', 'devices.id')
        .select(['mac', 'place', 'devices.site_id', 'hostname', 'first_seen_at', 'router_id', 'ip_address', 'interface'])
        .select(['ip_first_seen_at', 'last_seen_at', 'present'])
        .orderBy('mac')
        .orderBy('router_id')
        .execute(),
      confirmed: await storage.db.selectFrom('device_reports').selectAll().orderBy('router_id').execute(),
    });
    /** With numbers in place of ids, which differ. */
    const described = async () => {
      const names = new Map([[siteId, 'depot'], ...routers.map(({ routerId }, index) => [routerId, `router ${index}`] as const)]);
      return JSON.parse(
        JSON.stringify(await stored()).replaceAll(/"([\w-]+)"/g, (_whole, word: string) => JSON.stringify(names.get(word) ?? word)),
      ) as unknown;
    };
    return { storage, routers, report, seenBy, described };
  }

  const all = Array.from({ length: ROUTERS }, (_, index) => index);

  test('are stored by a few statements, as if each came by itself', async () => {
    const singly = await fleet();
    for (const index of all) await singly.report(index, singly.seenBy(index));
    const together = await fleet();
    const statements = await countStatements(() => Promise.all(all.map((index) => together.report(index, together.seenBy(index)))));
    expect(statements).toBeLessThan(ROUTERS);
    expect(await together.described()).toEqual(await singly.described());
  });

  test('of more devices than the team has room for are stored one by one, and none is lost', async () => {
    const { storage, report, seenBy } = await fleet({ perTeam: 30 });
    const statements = await countStatements(() => Promise.all(all.map((index) => report(index, seenBy(index)))));
    expect(statements).toBeGreaterThan(3 * ROUTERS);
    expect(await storage.db.selectFrom('device_reports').selectAll().execute()).toHaveLength(ROUTERS);
  });

  test('beside that of a removed router are stored', async () => {
    const { storage, routers, report, seenBy } = await fleet();
    await storage.db.updateTable('routers').set({ removed_at: NOW }).where('id', '=', routers[9]!.routerId).execute();
    const outcomes = await Promise.allSettled(all.map((index) => report(index, seenBy(index))));
    expect(outcomes.map(({ status }) => status)).toEqual(all.map((index) => (index === 9 ? 'rejected' : 'fulfilled')));
    expect(await storage.db.selectFrom('device_reports').selectAll().execute()).toHaveLength(ROUTERS - 1);
  });
});

describeEachDatabase('whole reports that say what is stored', (open) => {
  /** So long that whoever waits for it fails its test. */
  const APART_MS = 600_000;

  async function reportsOf(storage: Storage, teams: number, each: number): Promise<AgentReport[]> {
    const reports: AgentReport[] = [];
    for (let count = 0; count < teams; count += 1) {
      const first = await seedRouter(storage);
      reports.push({ ...first, sighted: [] });
      for (let more = 1; more < each; more += 1) reports.push({ ...(await seedRouter(storage, first)), sighted: [] });
    }
    return reports;
  }

  test('of one agent, one after the other, wait for nobody', async () => {
    const storage = await open();
    const unchanged = new UnchangedReports(storage, new ManualClock(NOW), APART_MS);
    for (const report of await reportsOf(storage, 1, 4)) expect(await unchanged.confirm(report)).toBe(true);
    await unchanged.stop();
  });

  test('of a team that is kept waiting and fails are confirmed for the other teams, a few at a time', async () => {
    const stored = await open();
    const TEAMS = 12;
    const reports = await reportsOf(stored, TEAMS, 1);
    let [begun, running, most] = [0, 0, 0];
    const others = Promise.withResolvers<void>();
    const write: WriteQueue['write'] = async (work) => {
      begun += 1;
      running += 1;
      most = Math.max(most, running);
      try {
        if (begun === 1) {
          await others.promise;
          throw new AppError('unavailable', 'the team is locked');
        }
        const result = await stored.writes.write(work);
        if (begun === TEAMS && running <= 2) others.resolve();
        return result;
      } finally {
        running -= 1;
      }
    };
    const unchanged = new UnchangedReports({ ...stored, writes: { write } }, new ManualClock(NOW), 0);
    const outcomes = await Promise.allSettled(reports.map((report) => unchanged.confirm(report)));
    const confirmed = { status: 'fulfilled', value: true };
    expect(outcomes).toMatchObject([{ status: 'rejected', reason: { code: 'unavailable' } }, ...reports.slice(1).map(() => confirmed)]);
    expect(most).toBeGreaterThan(1);
    expect(most).toBeLessThan(TEAMS / 2);
    await unchanged.stop();
  });
});
