import { expect, test } from 'vitest';
import { DevicesService } from '../../../server/fleet/devices/service.ts';
import type { Storage } from '../../../server/platform/storage/db.ts';
import { ManualClock } from '../../harness/manual-clock.ts';
import { silentLog } from '../../harness/silent-log.ts';
import { settle } from '../../harness/tunnel-bench.ts';

test('stop waits for a sweep that takes longer than its interval', async () => {
  const clock = new ManualClock();
  const gate = Promise.withResolvers<void>();
  // A database that takes its time to forget old devices.
  const writes = { write: () => gate.promise.then(() => undefined) };
  const devices = new DevicesService({
    storage: { writes } as unknown as Storage,
    clock,
    log: silentLog,
    routers: { routerIdOf: () => undefined, presence: { get: () => ({ lastSeenAt: null }) } } as never,
    manufacturers: { lookup: async () => () => null },
  });
  devices.start();
  for (let minutes = 0; minutes < 60; minutes += 1) clock.advance(60_000);
  await settle();
  let stopped = false;
  const stopping = devices.stop().then(() => (stopped = true));
  await settle();
  expect(stopped).toBe(false);
  gate.resolve();
  await stopping;
  await settle();
  expect(clock.pending).toBe(0);
});
