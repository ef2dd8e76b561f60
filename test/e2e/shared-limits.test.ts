import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { postgres } from '../harness/cluster/cluster-world.ts';
import { startMembers } from '../harness/cluster/members.ts';
import { hasNats } from '../harness/nats-server.ts';

describe.skipIf(!postgres || !hasNats())('limits of three control planes', () => {
  let closers: (() => Promise<void>)[];

  beforeEach(() => {
    closers = [];
  });
  afterEach(async () => {
    for (const close of closers.toReversed()) await close();
  });

  test('a key that is hammered through all of them is served 60 times in a minute', async () => {
    const { world, nodes } = await startMembers(closers, { members: 3, routers: [], server: { SIGNALBOX_RATE_LIMIT_PER_MINUTE: '60' } });
    const callers = nodes.map((node) => world.callerAt(node));
    const answers = await Promise.all(Array.from({ length: 150 }, (_, n) => callers[n % 3]!.call('GET', '/api/routers')));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(60);
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(90);
    for (const { headers } of refused) {
      const wait = Number(headers.get('retry-after'));
      expect(wait).toBeGreaterThan(50);
      expect(wait).toBeLessThanOrEqual(60);
      expect(headers.get('ratelimit-remaining')).toBe('0');
    }
    const left = answers.filter(({ status }) => status === 200).map(({ headers }) => Number(headers.get('ratelimit-remaining')));
    expect(left.sort((a, b) => a - b)).toEqual(Array.from({ length: 60 }, (_, n) => n));
    // Strangers from one network are counted together as well.
    const strangers = await Promise.all(Array.from({ length: 90 }, (_, n) => fetch(`${nodes[n % 3]!.url}/api/routers`)));
    expect(strangers.filter(({ status }) => status === 401)).toHaveLength(60);
    expect(strangers.filter(({ status }) => status === 429)).toHaveLength(30);
  });
});
