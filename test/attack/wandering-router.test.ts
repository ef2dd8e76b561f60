import { expect, test } from 'vitest';
import type { HealthReadings } from '../../protocol/index.ts';
import type { AgentConnection } from '../../server/platform/core/agent-gateway.ts';
import { migrate } from '../../server/platform/storage/migrate.ts';
import { openStorage } from '../../server/platform/storage/open.ts';
import { MetadataService } from '../../server/fleet/metadata/service.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { seedRouter } from '../harness/seed.ts';
import { silentLog } from '../harness/silent-log.ts';
import { waitUntil } from '../harness/wait-until.ts';

const readingsAt = (latitude: number): HealthReadings => ({
  cpu_load: null,
  temperatures: [],
  voltage: null,
  free_memory: null,
  total_memory: null,
  free_hdd: null,
  total_hdd: null,
  clock_offset_seconds: null,
  wan: [],
  position: { latitude, longitude: 0 },
});

test('a router that changes its position in ten thousand messages has one write at a time and keeps the last position', async () => {
  const storage = await openStorage('sqlite::memory:', { log: silentLog });
  await migrate(storage);
  const { teamId, agentId, routerId } = await seedRouter(storage);
  let [underWay, most, writes] = [0, 0, 0];
  const counted = {
    ...storage,
    db: storage.db,
    writes: {
      write: async (work: Parameters<typeof storage.writes.write>[0]) => {
        writes += 1;
        most = Math.max(most, (underWay += 1));
        try {
          return await storage.writes.write(work);
        } finally {
          underWay -= 1;
        }
      },
    },
  } as unknown as typeof storage;
  const clock = new ManualClock();
  const metadata = new MetadataService({
    storage: counted,
    clock,
    log: silentLog,
    routers: { routerIdOf: () => routerId } as never,
    catalog: {} as never,
  });
  const from: AgentConnection = { teamId, agentId, epoch: 1, address: '', reset: false };
  const flood = (last: number): void => {
    for (let index = 0; index < 10_000; index += 1)
      metadata.onHealth(from, { type: 'health', router: 'one', readings: readingsAt(index === 9999 ? last : index % 90) });
  };
  const stored = async () =>
    (await storage.db.selectFrom('router_positions').select('latitude').where('router_id', '=', routerId).executeTakeFirst())?.latitude;
  flood(45.5);
  await waitUntil('the last word is stored', async () => (await stored()) === 45.5);
  flood(12.5);
  await waitUntil('the last word is stored again', async () => (await stored()) === 12.5);
  expect(most).toBe(1);
  expect(writes).toBeLessThanOrEqual(4);
  await storage.close();
});
