import { expect, test } from 'vitest';
import { confirmReports, upsertSighted } from '../../server/fleet/devices/store.ts';
import type { SightedDevice } from '../../server/fleet/devices/store.ts';
import { compareWithStored, markUnreported } from '../../server/fleet/devices/whole-report/store.ts';
import { newId } from '../../server/platform/core/ids.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { seedRouter } from '../harness/seed.ts';

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
