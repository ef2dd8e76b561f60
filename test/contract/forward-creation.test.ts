import { expect, test } from 'vitest';
import { systemClock } from '../../server/platform/core/clock.ts';
import { storeNewForward, unusedPorts } from '../../server/work/forwards/creation.ts';
import { FORWARD_LIMITS } from '../../server/work/forwards/limits.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { seedRouter } from '../harness/seed.ts';

describeEachDatabase('new forwards', (open) => {
  test.each([{ openPerTeam: 3 }, { openPerRouter: 3 }])('made at the same time are no more than %j', async (limit) => {
    const storage = await open();
    const { teamId, routerId } = await seedRouter(storage);
    const settings = {
      host: 'localhost',
      listen: '127.0.0.1',
      ports: { from: 40_000, to: 40_100 },
      allowPrivateSources: true,
      idleSeconds: null,
    };
    const limits = { ...FORWARD_LIMITS, ...limit };
    const deps = { storage, clock: systemClock, settings, limits, portsUse: unusedPorts(settings, limits) };
    const request = { expireAfterMinutes: 60, dstPort: 22, dstAddress: '192.168.88.10', allowFrom: '198.51.100.7' };
    const made = await Promise.allSettled(
      Array.from({ length: 12 }, () => storeNewForward(deps, { teamId, routerId, maker: { id: 'key' }, channelTokenHash: 'x', request })),
    );
    const kept = made.filter(({ status }) => status === 'fulfilled');
    expect(kept).toHaveLength(3);
    expect(deps.portsUse.refusals.party + deps.portsUse.refusals.member).toBe(9);
    for (const refused of made) if (refused.status === 'rejected') expect(refused.reason).toMatchObject({ code: 'conflict' });
  });
});
