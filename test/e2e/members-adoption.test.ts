import { once } from 'node:events';
import net from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { ClusterWorld, postgres } from '../harness/cluster/cluster-world.ts';
import { closeOf, ForwardMembers, talk } from '../harness/cluster/forward-members.ts';
import { startMembers } from '../harness/cluster/members.ts';
import { hasNats } from '../harness/nats-server.ts';
import { waitUntil } from '../harness/wait-until.ts';
import type { RunningServer } from '../../server/compose/start.ts';

describe.skipIf(!postgres || !hasNats())('forwards whose home is gone', () => {
  let closers: (() => Promise<void>)[] = [];

  afterEach(async () => {
    for (const close of closers.toReversed()) await close();
    closers = [];
  });

  test('go on at another control plane with the same port when their home stops', async () => {
    const members = await ForwardMembers.of(await startMembers(closers, { members: 2 }), closers);
    const [first, second] = members.nodes;
    await members.moveAgent(second!);
    const forward = await members.create(first!);
    expect(await members.home(forward.id)).toBe(second);
    const client = await talk(forward.port);
    const closed = closeOf(client);
    const moved: string[] = [];
    first!.services.forwards.changes.subscribe(({ kind, forward: of }) => moved.push(`${kind} ${of.id}`));
    await second!.close();
    await closed;
    await members.moveAgent(first!);
    await waitUntil('the other is its home', async () => (await members.home(forward.id)) === first);
    (await waitUntil('its port leads to the target again', () => talk(forward.port).catch(() => undefined))).destroy();
    expect(moved).toContain(`moved ${forward.id}`);
    expect(await members.get(first!, forward.id)).toMatchObject({ port: forward.port, closed_at: null });
  });

  test('count what goes through a door of the new home', async () => {
    const members = await ForwardMembers.of(await startMembers(closers, { members: 2 }), closers);
    const [first, second] = members.nodes as [RunningServer, RunningServer];
    await members.moveAgent(second);
    const forward = await members.create(first, { max_connections: 1 });
    expect(await members.home(forward.id)).toBe(second);
    await members.moveAgent(first);
    const client = await waitUntil('the agent has the way again', async () => {
      const one = members.connect(first, forward.id).on('open', () => one.send(Buffer.from('hello')));
      return Promise.race([once(one, 'message').then(() => one), once(one, 'close').then(() => undefined)]);
    });
    await waitUntil('the home knows the way', async () => (await members.get(first, forward.id)).way !== null);
    await second.close();
    await waitUntil('the other is its home', async () => (await members.home(forward.id)) === first);
    await waitUntil('its place is taken', async () => {
      expect(client.readyState).toBe(client.OPEN);
      const another = members.connect(first, forward.id);
      const isLetIn = await Promise.race([once(another, 'open').then(() => true), once(another, 'unexpected-response').then(() => false)]);
      another.terminate();
      return !isLetIn;
    });
    client.send(Buffer.from('still'));
    await once(client, 'message');
    expect((await members.get(first, forward.id)).open_connections).toBe(1);
    client.close();
    await waitUntil('its place is free', async () => (await members.get(first, forward.id)).open_connections === 0);
    await once(members.connect(first, forward.id), 'open');
  });

  test('go on after a kill, and lost connections say so', async () => {
    const cluster = await ClusterWorld.start(closers);
    const target = net.createServer((socket) => {
      socket.on('error', () => undefined);
      socket.pipe(socket);
    });
    target.listen(0, '127.0.0.1');
    await once(target, 'listening');
    closers.push(async () => void target.close());
    const { port: dstPort } = target.address() as net.AddressInfo;
    const path = `/api/routers/${cluster.routerId}/transient-forwarding`;
    const body = { expire_after_minutes: 10, dst_port: dstPort, dst_address: '127.0.0.1', allow_from: '127.0.0.1' };
    const { caller, server } = cluster.world;
    const { db } = server.services.storage;
    const homeOf = async (id: string): Promise<string | null> =>
      (await db.selectFrom('forwards').select('node_id').where('id', '=', id).executeTakeFirstOrThrow()).node_id;
    const forward = await waitUntil('a forward has its home at the other', async () => {
      const { body: created } = await caller.call<{ id: string; port: number }>('POST', path, body);
      if ((await homeOf(created.id)) !== server.services.cluster!.nodeId) return created;
      // A busy machine answers too late for a moment, and the agent has gone to this one.
      await cluster.restartAgent(cluster.balancer.url);
      return undefined;
    });
    const client = await talk(forward.port);
    const ended = async (): Promise<string | undefined> =>
      (await db.selectFrom('forward_connections').select('ended_by').where('forward_id', '=', forward.id).executeTakeFirst())?.ended_by;
    await waitUntil('the open connection is stored', async () => (await ended()) === 'open');
    const closed = closeOf(client);
    await cluster.other.kill();
    await closed;
    await waitUntil('the other is its home', async () => (await homeOf(forward.id)) === server.services.cluster!.nodeId);
    (await waitUntil('its port leads to the target again', () => talk(forward.port).catch(() => undefined))).destroy();
    await waitUntil('the lost connection says so', async () => (await ended()) === 'node_lost');
  });
});
