import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import net from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { ForwardWorld } from '../harness/forward-world.ts';
import type { WorldOptions } from '../harness/forward-world.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { readAll } from '../harness/read-all.ts';
import { StallProxy } from '../harness/stall-proxy.ts';
import { waitUntil } from '../harness/wait-until.ts';

let world: ForwardWorld;
afterEach(() => world.close());

async function open(options?: WorldOptions): Promise<ForwardWorld> {
  world = await ForwardWorld.open(options);
  return world;
}

function connect(port: number): net.Socket {
  const socket = net.connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  socket.on('error', () => undefined);
  return socket;
}

/** Connects, sends everything, half-closes and reads until the other side half-closes. */
async function exchange(port: number, bytes: Buffer | string): Promise<Buffer> {
  const socket = connect(port);
  socket.end(bytes);
  return readAll(socket);
}

const sha = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

/** Ends with an error, or without having been closed properly. */
async function brokenBy(socket: net.Socket): Promise<string> {
  const [error] = (await once(socket, 'error').catch((e: unknown) => [e])) as [NodeJS.ErrnoException];
  return error.code ?? error.message;
}

describe.each([
  { channels: 'streaming', stockWebSockets: false },
  { channels: 'ws', stockWebSockets: true },
])('bytes over $channels channels', ({ stockWebSockets }) => {
  it('arrive unchanged, 50 MB in both directions at once', async () => {
    await open({ stockWebSockets });
    const upload = randomBytes(50_000_000);
    const download = randomBytes(50_000_000);
    let received: Promise<Buffer> | undefined;
    const port = await world.target((socket) => {
      received = readAll(socket);
      socket.end(download);
    });
    const { record } = await world.create({ dstPort: port });
    const answer = await exchange(record.port, upload);
    expect(sha(answer)).toBe(sha(download));
    expect(sha(await received!)).toBe(sha(upload));
  });
});

/** Reads with pauses, so that buffers fill on the way. */
async function readSlowly(socket: net.Socket): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    chunks.push(chunk as Buffer);
    if (chunks.length % 7 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  return Buffer.concat(chunks);
}

it('never mix between many concurrent connections, fast and slow', async () => {
  await open();
  const port = await world.target((socket) => socket.pipe(socket));
  const { record } = await world.create({ dstPort: port });
  await Promise.all(
    Array.from({ length: 16 }, async (_unused, index) => {
      const socket = connect(record.port);
      const sent = randomBytes(1_500_000 + index * 77_777);
      const received = index % 2 === 0 ? readSlowly(socket) : readAll(socket);
      socket.end(sent);
      expect(sha(await received)).toBe(sha(sent));
    }),
  );
});

describe('a forward', () => {
  it('is authorised and shown with its way and its port', async () => {
    await open();
    const { record } = await world.create({ dstPort: await world.target((socket) => socket.pipe(socket)) });
    expect(record.authorized_at).not.toBeNull();
    expect(record).toMatchObject({
      way: 'direct',
      way_reason: 'the target is the router itself',
      target_reachable: 1,
      allow_only_cidr: '127.0.0.1/32',
      entry_point: 'forward.example.net',
    });
    expect(await exchange(record.port, 'hello')).toEqual(Buffer.from('hello'));
  });

  it('reports that nothing listens on the target, and resets clients', async () => {
    await open();
    const server = net.createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as net.AddressInfo;
    server.close();
    const { record } = await world.create({ dstPort: port });
    expect(record).toMatchObject({ way: 'direct', target_reachable: 0 });
    expect(await brokenBy(connect(record.port))).toBe('ECONNRESET');
  });

  it('is stored without a way when the agent does not allow the destination', async () => {
    await open();
    const { record } = await world.create({ dstPort: 80, dstAddress: '10.9.9.9' });
    expect(record.authorized_at).toBeNull();
    expect(record.way_reason).toContain('forwards.allow');
  });

  it('keeps half-close in both directions', async () => {
    await open();
    // The target answers only after the client has said that it is done, and the other way round.
    const port = await world.target((socket) => void readAll(socket).then((all) => socket.end(`got ${all.length}`)));
    const { record } = await world.create({ dstPort: port });
    expect(String(await exchange(record.port, 'x'.repeat(1000)))).toBe('got 1000');

    let uploaded: Promise<Buffer> | undefined;
    const early = await world.target((socket) => {
      uploaded = readAll(socket);
      socket.end('bye');
    });
    const second = (await world.create({ dstPort: early })).record;
    const client = connect(second.port);
    expect(String(await readAll(client))).toBe('bye');
    client.end('after the end of the answer');
    expect(String(await uploaded!)).toBe('after the end of the answer');
  });

  it('forwards a reset as a reset, in both directions', async () => {
    await open();
    const targets: net.Socket[] = [];
    const port = await world.target((socket) => targets.push(socket));
    const { record } = await world.create({ dstPort: port });

    const first = connect(record.port);
    first.write('x');
    await waitUntil('the target is connected', () => targets.length === 1);
    const broken = brokenBy(first);
    targets[0]!.resetAndDestroy();
    expect(await broken).toBe('ECONNRESET');

    const second = connect(record.port);
    second.write('x');
    await waitUntil('the target is connected again', () => targets.length === 2);
    const targetBroken = brokenBy(targets[1]!);
    second.resetAndDestroy();
    expect(await targetBroken).toBe('ECONNRESET');
  });

  it('buffers little for a stalled reader and delays no other connection', async () => {
    await open();
    let written = 0;
    const port = await world.target((socket) => {
      const chunk = Buffer.alloc(65_536);
      const more = (): void => {
        while (socket.writable && written < 500_000_000) {
          written += chunk.length;
          if (!socket.write(chunk)) break;
        }
      };
      socket.on('drain', more);
      socket.once('data', (data) => (data.toString() === 'flood' ? more() : socket.end(data)));
    });
    const { record } = await world.create({ dstPort: port });
    const stalled = connect(record.port);
    stalled.pause();
    stalled.write('flood');
    // Until the flood stands still: what it filled then is all the buffers there are, the kernel's included.
    let before = -1;
    await waitUntil('the flood stands still', () => {
      const still = written > 0 && written === before;
      before = written;
      return still;
    });
    expect(written).toBeLessThan(64_000_000);
    expect(String(await exchange(record.port, 'ping'))).toBe('ping');
    stalled.destroy();
  });

  it('refuses a source outside allow_from first, and counts it', async () => {
    await open({ limits: { flushMs: 10 } });
    let reached = 0;
    const port = await world.target(() => (reached += 1));
    const { record } = await world.create({ dstPort: port, allowFrom: '203.0.113.7' });
    for (let i = 0; i < 3; i += 1) expect(await brokenBy(connect(record.port))).toMatch(/ECONNRESET|EPIPE/);
    expect(reached).toBe(0);
    expect((await world.get(record.id)).record.refused_attempts).toBe(3);
  });

  it('expires on time: connections and port are closed, and the agent removes it', async () => {
    const clock = new ManualClock(Date.now());
    await open({ clock });
    const sockets: net.Socket[] = [];
    const port = await world.target((socket) => sockets.push(socket));
    const { record } = await world.create({ dstPort: port, expireAfterMinutes: 10 });
    const client = connect(record.port);
    client.write('x');
    await waitUntil('connected', () => sockets.length === 1);

    clock.advance(10 * 60_000 - 1);
    expect(client.destroyed).toBe(false);
    const [clientBroken, targetBroken] = [brokenBy(client), brokenBy(sockets[0]!)];
    clock.advance(1);
    expect(await clientBroken).toBe('ECONNRESET');
    expect(await targetBroken).toBe('ECONNRESET');
    expect(await brokenBy(connect(record.port))).toBe('ECONNREFUSED');
    await world.forwards.stop();
    const after = (await world.get(record.id)).record;
    expect(after.closed_at).toBe(record.expires_at);
    expect(after.revoked_at).toBeNull();
    const [row] = await world.forwards.connections(record.team_id, record.router_id, record.id, { limit: 10, before: undefined });
    expect(row).toMatchObject({ ended_by: 'expired', bytes_in: 1, bytes_out: 0 });
  });

  it('is revoked at once, and only once', async () => {
    await open();
    const port = await world.target((socket) => socket.write('welcome'));
    const { record } = await world.create({ dstPort: port });
    const client = connect(record.port);
    await once(client, 'data');
    const broken = brokenBy(client);
    await world.forwards.revoke(record.team_id, record.router_id, record.id);
    expect(await broken).toBe('ECONNRESET');
    expect(await brokenBy(connect(record.port))).toBe('ECONNREFUSED');
    const revoked = (await world.get(record.id)).record;
    expect(revoked.revoked_at).not.toBeNull();
    await world.forwards.revoke(record.team_id, record.router_id, record.id);
    expect((await world.get(record.id)).record.revoked_at).toBe(revoked.revoked_at);
  });

  it('survives a restart of the control plane on the same port with the same expiry', async () => {
    await open();
    const port = await world.target((socket) => socket.pipe(socket));
    const { record } = await world.create({ dstPort: port });
    await world.restartServer();
    expect(String(await exchange(record.port, 'again'))).toBe('again');
    const after = (await world.get(record.id)).record;
    expect(after).toMatchObject({ port: record.port, expires_at: record.expires_at, authorized_at: record.authorized_at });
  });

  it('is closed by a restart when its time has passed meanwhile', async () => {
    const clock = new ManualClock(Date.now());
    await open({ clock });
    const { record } = await world.create({ dstPort: 9 });
    await world.forwards.stop();
    clock.advance(3_600_000);
    await world.restartServer();
    expect((await world.get(record.id)).record.closed_at).not.toBeNull();
    expect(await brokenBy(connect(record.port))).toBe('ECONNREFUSED');
  });

  it('waits for an offline agent and opens when it connects', async () => {
    await open();
    const port = await world.target((socket) => socket.pipe(socket));
    const agentForwards = world.gateway.agentForwards!;
    world.gateway.agentForwards = undefined;
    const { record } = await world.create({ dstPort: port });
    expect(record.authorized_at).toBeNull();
    world.gateway.agentForwards = agentForwards;
    world.gateway.currentEpoch += 1;
    world.forwards.onReady(world.connection);
    expect(String(await exchange(record.port, 'late'))).toBe('late');
    expect((await world.get(record.id)).record.authorized_at).not.toBeNull();
  });

  it('is opened again by an agent that was replaced', async () => {
    await open();
    const port = await world.target((socket) => socket.pipe(socket));
    const { record } = await world.create({ dstPort: port });
    await world.gateway.agentForwards!.stop();
    world.connectAgent();
    world.gateway.currentEpoch += 1;
    world.forwards.onReady(world.connection);
    expect(String(await exchange(record.port, 'anew'))).toBe('anew');
  });

  it('keeps no client waiting for channels of an agent that has restarted after a power failure', async () => {
    await open();
    const port = await world.target((socket) => socket.pipe(socket));
    const line = await StallProxy.start(world.channelPort);
    world.connectAgent(line.port);
    const { record } = await world.create({ dstPort: port });
    expect(String(await exchange(record.port, 'before'))).toBe('before');
    line.stall();
    world.connectAgent();
    world.gateway.currentEpoch += 1;
    world.forwards.onReady(world.connection);
    const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => exchange(record.port, `after ${index}`)));
    expect(answers.map(String)).toEqual(answers.map((_, index) => `after ${index}`));
    await line.close();
  });

  it('resets a client that gets no channel', async () => {
    await open({ limits: { channelWaitMs: 50 } });
    world.gateway.agentForwards = undefined;
    const { record } = await world.create({ dstPort: 9 });
    expect(await brokenBy(connect(record.port))).toBe('ECONNRESET');
  });

  it('carries 1,000 consecutive connections on a few channels and leaks none', async () => {
    await open();
    let accepted = 0;
    const port = await world.target((socket) => {
      accepted += 1;
      socket.pipe(socket);
    });
    const { record } = await world.create({ dstPort: port });
    for (let i = 0; i < 1000; i += 1) {
      const text = `connection ${i}`;
      expect(String(await exchange(record.port, text))).toBe(text);
    }
    expect(accepted).toBe(1000);
    expect((await world.get(record.id)).openConnections).toBeLessThan(5);
    const descriptors = process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;
    // Both ends of a dozen warm channels and the server's own, not hundreds.
    expect(descriptors).toBeLessThan(40);
  });

  it('belongs to its team', async () => {
    await open();
    const { record } = await world.create({ dstPort: 9 });
    await expect(world.forwards.get('another team', record.router_id, record.id)).rejects.toMatchObject({ code: 'not_found' });
    await expect(world.forwards.revoke('another team', record.router_id, record.id)).rejects.toMatchObject({ code: 'not_found' });
    await expect(world.forwards.list('another team', record.router_id, { limit: 9, before: undefined })).rejects.toMatchObject({
      code: 'not_found',
    });
    expect((await world.get(record.id)).record.closed_at).toBeNull();
  });
});
