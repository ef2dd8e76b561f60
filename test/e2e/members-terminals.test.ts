import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { postgres } from '../harness/cluster/cluster-world.ts';
import { startMembers } from '../harness/cluster/members.ts';
import type { ClusterOfMembers } from '../harness/cluster/members.ts';
import { clusterSettings } from '../harness/cluster/settings.ts';
import { hasNats } from '../harness/nats-server.ts';
import { TerminalClient } from '../harness/terminal-client.ts';
import { hasSession, Terminals } from '../harness/terminal-world.ts';
import { waitUntil } from '../harness/wait-until.ts';
import type { RunningServer } from '../../server/compose/start.ts';

describe.skipIf(!postgres || !hasNats())('terminals of two control planes', () => {
  const closers: (() => Promise<void>)[] = [];
  let cluster: ClusterOfMembers;
  /** The agent has its tunnel with the first. */
  let first: RunningServer;
  let second: RunningServer;
  let atFirst: Terminals;
  let atSecond: Terminals;
  let routerId: string;

  beforeAll(async () => {
    cluster = await startMembers(closers, { members: 2, terminal: 'full', routers: [{ version: '7.18.2' }] });
    [first, second] = cluster.nodes as [RunningServer, RunningServer];
    [atFirst, atSecond] = [at(first), at(second)];
    [routerId = ''] = await cluster.world.routerIds();
    await waitUntil('both know each other', () => cluster.nodes.every(({ services }) => services.cluster!.members.ids.length === 2));
  });
  afterAll(async () => {
    for (const close of closers.toReversed()) await close();
  });

  /** Requests at one of the control planes. */
  function at(node: RunningServer): Terminals {
    return new Terminals({ server: node, caller: cluster.world.callerAt(node) });
  }

  async function homeOf(id: string): Promise<string | null> {
    const { db } = first.services.storage;
    return (await db.selectFrom('terminals').select('node_id').where('id', '=', id).executeTakeFirstOrThrow()).node_id;
  }

  async function says(client: TerminalClient, text: string): Promise<void> {
    client.type(`:put "${text}"\r`);
    await client.sees(new RegExp(`\\r\\n${text}\\r\\n`));
  }

  test('live where they were opened, and are shown and ended by the other one', async () => {
    const { opened, client } = await atSecond.atPrompt(routerId);
    expect(await homeOf(opened.id)).toBe(second.services.cluster!.nodeId);
    await says(client, 'two and two');
    expect(await atFirst.read(opened.id)).toMatchObject({ status: 'open', attached: true, away: false });
    await atFirst.end(opened.id);
    expect(await client.ending()).toMatchObject({ reason: 'closed' });
    await waitUntil('the router has no session of it', async () => !hasSession(cluster.world, 'term-read'));
    expect(await atSecond.recordedText(opened.id)).toContain('two and two');
  });

  test('end with their shell, which the control plane of the agent hears of', async () => {
    const { opened, client } = await atSecond.atPrompt(routerId);
    client.type('quit\r');
    expect(await client.ending()).toMatchObject({ reason: 'exited' });
    await atFirst.endsWith(opened.id, 'exited');
  });

  test('go to where a client attaches, with what it has seen, and back', async () => {
    const { opened, client } = await atSecond.atPrompt(routerId);
    await says(client, 'before the move');
    // A balancer sends each request anywhere.
    const there = await atFirst.attach(await atFirst.ticketOf(opened.id));
    expect(await homeOf(opened.id)).toBe(first.services.cluster!.nodeId);
    expect((await waitUntil('the former client is sent away', async () => client.closed)).code).toBe(4409);
    await there.sees('before the move');
    const [{ replay } = {}] = there.messages as { replay?: { bytes: number } }[];
    expect(replay!.bytes).toBe(there.bytes);
    expect(there.messages).toHaveLength(1);
    await says(there, 'after the move');
    const again = await TerminalClient.attach(second.url, await atFirst.ticketOf(opened.id));
    await again.sees('after the move');
    await says(again, 'and back');
    await atSecond.end(opened.id);
    await atSecond.endsWith(opened.id, 'closed');
    const text = await atFirst.recordedText(opened.id);
    for (const part of ['before the move', 'after the move', 'and back']) expect(text.split(`\r\n${part}\r\n`), part).toHaveLength(2);
    expect(text).not.toContain('bytes of output were lost');
  });

  test('tell the router a new size of the window before the keys that follow it', async () => {
    const { opened, client } = await atSecond.atPrompt(routerId);
    client.resize(40, 10);
    client.type('/system \t');
    await client.sees('identity');
    // Narrow: the list of what may follow has many short lines.
    const lines = client.plain.slice(client.plain.indexOf('/system')).split('\r\n');
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(60);
    await atSecond.end(opened.id);
    await atSecond.endsWith(opened.id, 'closed');
  });

  test('a wrong or used ticket attaches nowhere', async () => {
    const { opened, client } = await atSecond.atPrompt(routerId);
    for (const node of [first, second]) {
      expect((await TerminalClient.attach(node.url, opened)).refused).toBe(401);
      expect((await TerminalClient.attach(node.url, { ...opened, ticket: 'x'.repeat(48) })).refused).toBe(401);
    }
    await says(client, 'still here');
    await atSecond.end(opened.id);
  });

  test('end when the key of their opener is revoked at the other one', async () => {
    const own = cluster.world.callerAt(first);
    const made = { name: 'for a while', role: 'operator' };
    const { body } = await own.call<{ data: { id: string; api_key: string } }>('POST', '/api/api-keys', made);
    const there = cluster.world.callerAt(second);
    const { opened, client } = await atSecond.atPrompt(routerId, 'read', {
      call: (method, path, asked) => there.call(method, path, asked, { authorization: `Bearer ${body.data.api_key}` }),
    });
    expect((await own.call('DELETE', `/api/api-keys/${body.data.id}`)).status).toBeLessThan(300);
    expect(await client.ending()).toMatchObject({ reason: 'rights_lost' });
    await atFirst.endsWith(opened.id, 'rights_lost');
    await waitUntil('the router has no session of it', async () => !hasSession(cluster.world, 'term-read'));
  });

  test('are left alone by a third that starts, and go on at another one when theirs ends', async () => {
    const third = await cluster.world.startMember(await clusterSettings(cluster.nats));
    let isOpen = true;
    closers.push(async () => (isOpen ? third.close() : undefined));
    const own = await atFirst.atPrompt(routerId, 'full');
    const id = third.services.cluster!.nodeId;
    await waitUntil('it is known', () => cluster.nodes.every(({ services }) => services.cluster!.members.ids.includes(id)));
    await says(own.client, 'undisturbed');
    expect(await homeOf(own.opened.id)).toBe(first.services.cluster!.nodeId);
    await own.client.close();

    const moved = await at(third).attach(await at(third).ticketOf(own.opened.id));
    await says(moved, 'at the third');
    isOpen = false;
    await third.close();
    expect((await waitUntil('the client is told', async () => moved.closed)).code).toBe(1001);
    const back = await atSecond.attach(await atSecond.ticketOf(own.opened.id));
    await back.sees('at the third');
    await says(back, 'on and on');
    await atSecond.end(own.opened.id);
    expect(await atSecond.recordedText(own.opened.id)).not.toContain('bytes of output were lost');
  });
});
