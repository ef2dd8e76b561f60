import { expect, test } from 'vitest';
import { decodeAgentMessage } from '../../protocol/index.ts';
import { RoutersService } from '../../server/fleet/routers/service.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { seedRouter } from '../harness/seed.ts';
import { silentLog } from '../harness/silent-log.ts';

/** Hostile numbers and names in otherwise valid messages of an agent. */
describeEachDatabase('what a hostile agent says', (open) => {
  test.each([
    [1e300, null],
    [1.5, 1],
    [Number.MAX_SAFE_INTEGER, null],
  ])('an uptime of %d s does not prevent the presence of other routers from being stored', async (uptime, kept) => {
    const storage = await open();
    const clock = new ManualClock();
    const routers = new RoutersService({ storage, clock, log: silentLog, rules: { offlineAfterMs: 75_000 } });
    await routers.start();
    const [hostile, neighbour] = [await seedRouter(storage), await seedRouter(storage)];
    for (const { teamId, agentId } of [hostile, neighbour])
      await routers.onReady({ agentId, teamId, epoch: 1, address: '198.51.100.7', reset: false });
    const beat = ({ teamId, agentId, routerId }: typeof hostile, uptimeSeconds: number): void => {
      const decoded = decodeAgentMessage(
        JSON.stringify({
          type: 'heartbeat',
          routers: [{ name: `router ${routerId}`, reachable: true, uptime_seconds: uptimeSeconds, reason: null }],
        }),
      );
      if (decoded.kind !== 'message' || decoded.message.type !== 'heartbeat') throw new Error(decoded.kind);
      routers.onHeartbeat({ agentId, teamId, epoch: 1, address: '198.51.100.7', reset: false }, decoded.message);
    };
    beat(hostile, uptime);
    beat(neighbour, 500);
    await routers.stop();
    const stored = await storage.db.selectFrom('router_presence').select(['router_id', 'uptime_seconds']).execute();
    expect(stored).toContainEqual({ router_id: neighbour.routerId, uptime_seconds: 500 });
    // Two guards: what is impossible is not believed, and a row that cannot be stored is left out (unstorable-rows.test.ts).
    expect(stored).toContainEqual({ router_id: hostile.routerId, uptime_seconds: kept });
  });
});
