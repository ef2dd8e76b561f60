import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { AheadClock } from '../harness/ahead-clock.ts';
import { oneNodeOnly } from '../harness/cluster/one-node.ts';
import { databaseKinds } from '../harness/databases.ts';
import type { TestDatabase } from '../harness/databases.ts';
import { TokenMint } from '../harness/identity/mint.ts';
import { addUser } from '../harness/identity/sign-in.ts';
import { hasSession, Terminals } from '../harness/terminal-world.ts';
import { TunnelProxy } from '../harness/tunnel-proxy.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { World } from '../harness/world.ts';
import type { Caller } from '../harness/world.ts';

/** Every way in which a terminal ends, and what it survives. */

const MINUTE_MS = 60_000;

describe.each(databaseKinds())('terminals on $name', ({ name, create }) => {
  let database: TestDatabase;
  let world: World;
  let terminals: Terminals;
  let routerId: string;
  let serverClock: AheadClock;
  beforeEach(async () => {
    database = await create();
    serverClock = new AheadClock();
    world = await World.start({ terminal: 'full', databaseUrl: database.url, overrides: { clock: serverClock } });
    terminals = new Terminals(world);
    [routerId = ''] = await world.routerIds();
  });
  afterEach(async () => {
    await world.close();
    await database.remove();
  });

  async function stopAgent(): Promise<void> {
    await world.agent!.close();
    world.agent = undefined;
  }

  /** A person with a session of the web application, signed in at this time. */
  async function person(role: 'operator' | 'admin', signedInAt = serverClock.now()): Promise<Caller & { id: string }> {
    const mint = await TokenMint.open(world);
    const id = await addUser(world, `${role}@example.org`, role);
    const token = await mint.token({ sub: id, team: world.caller.teamId, auth_time: Math.floor(signedInAt / 1000) });
    const call: Caller['call'] = (method, path, body, headers = {}) =>
      world.caller.call(method, path, body, { ...headers, authorization: `Bearer ${token}` });
    return { ...world.caller, id, call };
  }

  test('nothing typed for ten minutes: it ends. Every key counts', async () => {
    const { opened, client } = await terminals.atPrompt(routerId);
    serverClock.jump(9 * MINUTE_MS);
    client.type(':put "still here"\r');
    await client.sees(/\r\nstill here\r\n/);
    serverClock.jump(9 * MINUTE_MS);
    await new Promise((resolve) => setTimeout(resolve, 1500));
    expect((await terminals.read(opened.id)).status).toBe('open');
    serverClock.jump(1 * MINUTE_MS);
    expect(await client.ending()).toMatchObject({ reason: 'idle' });
    await terminals.endsWith(opened.id, 'idle');
    await waitUntil('the router has no session of it', async () => !hasSession(world, 'term-read'));
  });

  test('two hours are the most, whatever is typed', async () => {
    const { opened, client } = await terminals.atPrompt(routerId);
    for (let minutes = 9; minutes <= 117; minutes += 9) {
      serverClock.jump(9 * MINUTE_MS);
      client.type('x');
      await waitUntil('the key came back', async () => client.plain.endsWith('x'.repeat(minutes / 9)));
    }
    expect((await terminals.read(opened.id)).status).toBe('open');
    serverClock.jump(3 * MINUTE_MS);
    await terminals.endsWith(opened.id, 'expired');
  });

  test('nobody attached for five minutes: it ends', async () => {
    const { opened, client } = await terminals.atPrompt(routerId);
    await client.close();
    await waitUntil('the server knows', async () => !(await terminals.read(opened.id)).attached);
    serverClock.jump(4 * MINUTE_MS);
    await new Promise((resolve) => setTimeout(resolve, 1500));
    expect((await terminals.read(opened.id)).status).toBe('open');
    serverClock.jump(1 * MINUTE_MS);
    await terminals.endsWith(opened.id, 'detached');
  });

  test('a line that breaks loses nothing: the same shell goes on', async (context) => {
    oneNodeOnly(context, name === 'PostgreSQL', 'the terminal has a line of its own to another control plane, which is not cut');
    const proxy = await TunnelProxy.start(Number(new URL(world.server.url).port));
    try {
      await stopAgent();
      await world.startAgent({ server: `http://127.0.0.1:${proxy.port}`, state: 'behind-proxy' });
      await world.routerIds();
      const { opened, client } = await terminals.atPrompt(routerId, 'full');
      client.type(':for i from=1 to=300 do={:put "line $i"; :delay 5ms}\r');
      await client.sees(/\r\nline 20\r\n/);
      proxy.cut();
      await waitUntil('the client is told', async () => client.messages.some((message) => message['away'] === true));
      await client.sees(/\r\nline 300\r\n/);
      expect(client.messages).toContainEqual({ away: false });
      const lines = [...client.plain.matchAll(/\r\nline (\d+)/g)].map(([, number]) => Number(number));
      expect(lines).toEqual(Array.from({ length: 300 }, (_, i) => i + 1));
      client.type(':put "and on"\r');
      await client.sees(/\r\nand on\r\n/);
      await terminals.end(opened.id);
    } finally {
      await proxy.close();
    }
  });

  test('an agent that is away for five minutes: it ends', async (context) => {
    oneNodeOnly(context, name === 'PostgreSQL', 'the terminal has a line of its own to another control plane, which is not cut');
    const proxy = await TunnelProxy.start(Number(new URL(world.server.url).port));
    await stopAgent();
    await world.startAgent({ server: `http://127.0.0.1:${proxy.port}`, state: 'behind-proxy' });
    await world.routerIds();
    const { opened, client } = await terminals.atPrompt(routerId);
    await proxy.close();
    await waitUntil('the client is told', async () => client.messages.some((message) => message['away'] === true));
    serverClock.jump(5 * MINUTE_MS);
    await terminals.endsWith(opened.id, 'agent_away');
  });

  test('an agent that is stopped says so', async () => {
    const { opened, client } = await terminals.atPrompt(routerId);
    await stopAgent();
    expect(await client.ending()).toMatchObject({ reason: 'agent_stopped' });
    await terminals.endsWith(opened.id, 'agent_stopped');
    expect(hasSession(world, 'term-read')).toBe(false);
  });

  test('an agent whose terminals are off opens none, whatever it has been', async () => {
    await stopAgent();
    await world.startAgent({ terminal: 'off' });
    await world.routerIds();
    const { status, body } = await waitUntil('the agent answers', async () => {
      const answer = await world.caller.call('POST', `/api/routers/${routerId}/terminals`, { level: 'read', reason: 'a try' });
      return answer.status === 503 ? undefined : answer;
    });
    expect(status).toBe(422);
    expect(body).toMatchObject({ code: 'invalid', reason: 'terminal_off', message: expect.stringContaining('off at this agent') });
  });

  test('a router that cuts the connection', async () => {
    const { opened, client } = await terminals.atPrompt(routerId);
    world.simulators[0]!.faults.resetConnections();
    expect(await client.ending()).toMatchObject({ reason: 'router_lost' });
    await terminals.endsWith(opened.id, 'router_lost');
  });

  test('an agent that is revoked loses its terminals at once', async () => {
    const { opened, client } = await terminals.atPrompt(routerId);
    const agentId = (await world.caller.call<{ data: { id: string }[] }>('GET', '/api/agents')).body.data[0]!.id;
    expect((await world.caller.call('DELETE', `/api/agents/${agentId}`)).status).toBe(204);
    expect(await client.ending()).toMatchObject({ reason: 'agent_revoked' });
    await terminals.endsWith(opened.id, 'agent_revoked');
    await waitUntil('the router has no session of it', async () => !hasSession(world, 'term-read'));
    // With the history of its router it is gone.
    expect((await world.caller.call('DELETE', `/api/routers/${routerId}?purge=true`)).status).toBe(200);
    expect((await world.caller.call('GET', `/api/terminals/${opened.id}`)).status).toBe(404);
  });

  test('a person who becomes an operator loses a full one and keeps a read one', async () => {
    // A team keeps an administrator.
    await addUser(world, 'eve@example.org', 'admin');
    const ada = await person('admin');
    const full = await terminals.atPrompt(routerId, 'full', ada);
    expect((await world.caller.call('PATCH', `/api/members/${ada.id}`, { role: 'operator' })).status).toBe(200);
    expect(await full.client.ending()).toMatchObject({ reason: 'rights_lost' });
    await terminals.endsWith(full.opened.id, 'rights_lost');
    const read = await terminals.atPrompt(routerId, 'read', ada);
    expect((await world.caller.call('PATCH', `/api/members/${ada.id}`, { role: 'viewer' })).status).toBe(200);
    expect(await read.client.ending()).toMatchObject({ reason: 'rights_lost' });
  });

  test('a sign-in of more than 15 minutes ago opens none; the terminal of that sign-in can be attached to again', async () => {
    const bob = await person('operator', serverClock.now() - 14 * MINUTE_MS);
    const { opened, client } = await terminals.atPrompt(routerId, 'read', bob);
    await client.close();
    serverClock.jump(2 * MINUTE_MS);
    const again = await bob.call('POST', `/api/terminals/${opened.id}/tickets`);
    expect(again.status).toBe(200);
    await terminals.end(opened.id);
    const refused = await bob.call('POST', `/api/routers/${routerId}/terminals`, { level: 'read', reason: 'a try' });
    expect(refused).toMatchObject({ status: 403, body: { code: 'forbidden', reason: 'sign_in_too_old' } });
  });

  test('recordings are encrypted, and deleted when they are old enough; the record stays', async () => {
    const { opened, client } = await terminals.atPrompt(routerId);
    client.type(':put "a-secret-on-the-screen"\r');
    await client.sees(/\r\na-secret-on-the-screen\r\n/);
    await terminals.end(opened.id);
    expect(await terminals.recordedText(opened.id)).toContain('a-secret-on-the-screen');
    const { storage } = world.server.services;
    const stored = await storage.db.selectFrom('terminal_recordings').select('content').execute();
    expect(stored.length).toBeGreaterThan(0);
    // Compact JWE: header, key, nonce, content, tag.
    for (const { content } of stored) expect(content.split('.')).toHaveLength(5);
    await world.server.services.terminals.recordings.sweep();
    expect((await terminals.read(opened.id)).recording).toBe('kept');
    serverClock.jump(91 * 24 * 60 * MINUTE_MS);
    await world.server.services.terminals.recordings.sweep();
    expect((await terminals.read(opened.id)).recording).toBe('deleted');
    expect((await world.caller.call('GET', `/api/terminals/${opened.id}/recording`)).status).toBe(404);
  });

  test('the list shows the terminals of the team, by router, person and status', async () => {
    const first = await terminals.open(routerId);
    await terminals.end(first.id);
    const second = await terminals.open(routerId, 'full');
    const list = async (query: string): Promise<string[]> => {
      const { status, body } = await world.caller.call<{ data: { id: string }[] }>('GET', `/api/terminals${query}`);
      expect(status).toBe(200);
      return body.data.map(({ id }) => id);
    };
    expect(await list('')).toEqual([second.id, first.id]);
    expect(await list('?status=open')).toEqual([second.id]);
    expect(await list(`?router_id=${routerId}&sort=created_at&status=ended`)).toEqual([first.id]);
    expect(await list(`?opened_by=${routerId}`)).toEqual([]);
    const other = await world.addTeam('Other');
    expect((await other.call<{ data: unknown[] }>('GET', '/api/terminals')).body.data).toEqual([]);
    await terminals.end(second.id);
  });
});
