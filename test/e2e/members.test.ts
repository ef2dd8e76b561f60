import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { postgres } from '../harness/cluster/cluster-world.ts';
import { startMembers } from '../harness/cluster/members.ts';
import { hasNats } from '../harness/nats-server.ts';
import { waitUntil } from '../harness/wait-until.ts';

describe.skipIf(!postgres || !hasNats())('three control planes in one process', () => {
  let closers: (() => Promise<void>)[];

  beforeEach(() => {
    closers = [];
  });
  afterEach(async () => {
    for (const close of closers.toReversed()) await close();
  });

  test('know each other, agree on who does what, and notice that one stops', async () => {
    const { world, nodes } = await startMembers(closers, { members: 3 });
    const members = nodes.map(({ services }) => services.cluster!.members);
    await waitUntil('all three know each other', () => members.every(({ ids }) => ids.length === 3));
    expect(members.filter((of) => of.isOwn('campaigns'))).toHaveLength(1);
    const [routerId] = await world.routerIds();
    const answer = await world.callerAt(nodes[2]!).call('POST', `/api/synchronous/${routerId}`, { command: '/system/identity/print' });
    expect(answer.status).toBe(200);
    await nodes[2]!.close();
    await waitUntil('the others notice', () => members.slice(0, 2).every(({ ids }) => ids.length === 2));
  });
});
