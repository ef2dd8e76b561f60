import { once } from 'node:events';
import type net from 'node:net';
import tls from 'node:tls';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { postgres } from '../harness/cluster/cluster-world.ts';
import { closeOf, ForwardMembers, isOpen, talk } from '../harness/cluster/forward-members.ts';
import { startMembers } from '../harness/cluster/members.ts';
import { freePort } from '../harness/installation.ts';
import { hasNats } from '../harness/nats-server.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { createSelfSigned } from '../simulator/certificate.ts';
import type { RunningServer } from '../../server/compose/start.ts';

const DOMAIN = 'forward.example.net';

describe.skipIf(!postgres || !hasNats())('forwards of two control planes', () => {
  const closers: (() => Promise<void>)[] = [];
  let members: ForwardMembers;
  /** Where each of them lets TLS clients in by name. */
  let namePorts: number[];
  /** The agent has its tunnel with the first at the beginning of each test. */
  let first: RunningServer;
  let second: RunningServer;

  beforeAll(async () => {
    namePorts = [await freePort(), await freePort()];
    const perMember = namePorts.map((port) => ({ SIGNALBOX_FORWARD_DOMAIN: DOMAIN, SIGNALBOX_FORWARD_NAME_LISTEN: `127.0.0.1:${port}` }));
    members = await ForwardMembers.of(await startMembers(closers, { members: 2, perMember }), closers);
    [first, second] = members.nodes as [RunningServer, RunningServer];
  });
  afterAll(async () => {
    for (const close of closers.toReversed()) await close();
  });

  test('live where the agent has its tunnel, whoever is asked, and are shown by both', async () => {
    const forward = await members.create(second);
    expect(forward.authorized_at).not.toBeNull();
    expect(await members.home(forward.id)).toBe(first);
    (await talk(forward.port)).destroy();
    expect(await members.get(first, forward.id)).toMatchObject({ port: forward.port, way: 'direct' });
    await waitUntil('both count the connection', async () =>
      [await members.get(first, forward.id), await members.get(second, forward.id)].every((shown) => shown.connection_count === 1),
    );
  });

  test('show at each of them what goes through both', async () => {
    const forward = await members.create(first);
    const client = await talk(forward.port);
    const other = members.connect(second, forward.id);
    await once(other, 'open');
    other.send(Buffer.from('over the other'));
    await once(other, 'message');
    for (const node of [first, second])
      expect(await members.get(node, forward.id)).toMatchObject({ open_connections: 2, connection_count: 2, bytes_in: 19 });
    other.close();
    client.destroy();
    await members.revoke(first, forward.id);
  });

  test('are revoked by the other one: port and connections are closed, at the agent too', async () => {
    const forward = await members.create(first);
    const client = await talk(forward.port);
    const closed = closeOf(client);
    expect(await members.revoke(second, forward.id)).toBe(204);
    await closed;
    expect(await isOpen(forward.port)).toBe(false);
    expect((await members.get(first, forward.id)).closed_at).not.toBeNull();
    await waitUntil('its connection is logged as revoked', async () => {
      const { db } = first.services.storage;
      const rows = await db.selectFrom('forward_connections').select('ended_by').where('forward_id', '=', forward.id).execute();
      return rows.some(({ ended_by: by }) => by === 'revoked');
    });
  });

  test('are changed by the other one: connections of a source that is no longer allowed end', async () => {
    const forward = await members.create(first);
    const client = await talk(forward.port);
    const closed = closeOf(client);
    expect(await members.change(second, forward.id, { allow_from: '192.0.2.1' })).toBe(200);
    await closed;
    expect(await members.change(second, forward.id, { expire_after_minutes: 60, allow_from: '127.0.0.1' })).toBe(200);
    (await talk(forward.port)).destroy();
  });

  test('let clients in over the WebSocket of the other one, within their limit', async () => {
    const forward = await members.create(first, { max_connections: 2, allow_from: '192.0.2.1' });
    const one = members.connect(second, forward.id);
    await once(one, 'open');
    one.send(Buffer.from('over the other'));
    const [data] = (await once(one, 'message')) as [Buffer];
    expect(data.toString()).toBe('over the other');
    const two = members.connect(first, forward.id);
    await once(two, 'open');
    expect(await members.refusal(second, forward.id)).toBe(409);
    expect(await members.refusal(first, forward.id)).toBe(409);
    expect((await members.get(first, forward.id)).open_connections).toBe(2);
    one.close();
    await waitUntil('its place is free again', async () => (await members.get(first, forward.id)).open_connections === 1);
    const three = members.connect(second, forward.id);
    await once(three, 'open');
    const cut = Promise.all([once(two, 'close'), once(three, 'close')]);
    expect(await members.revoke(first, forward.id)).toBe(204);
    expect((await cut).map(([code]) => code as number)).toEqual([4403, 4403]);
    await waitUntil('all three are in the record', async () => (await members.get(second, forward.id)).connection_count === 3);
  });

  test('let TLS clients in by name at each of them', async () => {
    const certificate = await createSelfSigned('target');
    const target = tls.createServer(certificate, (socket) => void socket.on('error', () => undefined).pipe(socket));
    await once(target.listen(0, '127.0.0.1'), 'listening');
    const forward = await members.create(first, { dst_port: (target.address() as net.AddressInfo).port });
    const servername = `${forward.id}.${DOMAIN}`;
    const clients: tls.TLSSocket[] = [];
    for (const port of namePorts) {
      const client = tls.connect({ port, host: '127.0.0.1', servername, rejectUnauthorized: false });
      clients.push(client.on('error', () => undefined));
      await once(client, 'secureConnect');
      expect(client.getPeerCertificate().subject.CN).toBe('target');
      client.write('by name');
      expect(String((await once(client, 'data'))[0])).toBe('by name');
    }
    await waitUntil('both are in the record', async () => (await members.get(first, forward.id)).open_connections === clients.length);
    const closed = Promise.all(clients.map(closeOf));
    expect(await members.revoke(second, forward.id)).toBe(204);
    await closed;
    target.close();
  });

  test('end at their time also while the database does not answer, at the door of the other one too', async () => {
    const forward = await members.create(first);
    const client = closeOf(await talk(forward.port));
    const door = members.connect(second, forward.id);
    await once(door, 'open');
    const cut = once(door, 'close');
    const { db } = first.services.storage;
    // Both find a new end with their next look, within 5 s.
    const endsAt = Date.now() + 12_000;
    await db.updateTable('forwards').set({ expires_at: endsAt, renewed_at: Date.now() }).where('id', '=', forward.id).execute();
    await waitUntil('its time has nearly come', () => Date.now() > endsAt - 500);
    const silent = new Client({ connectionString: first.services.config.databaseUrl });
    await silent.connect();
    try {
      await silent.query('begin; lock table forwards in access exclusive mode');
      await Promise.all([client, cut]);
      await waitUntil('the port is closed', async () => !(await isOpen(forward.port)));
      // A statement that waits for a lock is given up after 10 s.
      expect(Date.now() - endsAt).toBeLessThan(8000);
    } finally {
      await silent.end();
    }
    await waitUntil('the end is stored', async () => (await members.get(second, forward.id)).closed_at !== null);
  });

  test('stay at their home when the tunnel moves, with channels from the agent straight to the home', async () => {
    const forward = await members.create(first);
    await members.moveAgent(second);
    try {
      expect(await members.home(forward.id)).toBe(first);
      const client = await waitUntil('the way is open again', () => talk(forward.port).catch(() => undefined));
      const closed = closeOf(client);
      expect(await members.revoke(first, forward.id)).toBe(204);
      await closed;
    } finally {
      await members.moveAgent(first);
    }
  });
});
