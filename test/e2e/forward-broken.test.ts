import { once } from 'node:events';
import net from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ForwardWorld } from '../harness/forward-world.ts';
import { waitUntil } from '../harness/wait-until.ts';

/** A connection that breaks before its first byte breaks for the other side too: an ordinary end would pass for an empty answer. */

let world: ForwardWorld;
const sockets: net.Socket[] = [];

beforeEach(async () => {
  world = await ForwardWorld.open();
});

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await world.close();
});

/** How the connection ends for a client that does `begin` when it is in: `reset`, or `end` where the peer just ends. */
async function ending(port: number, begin: (client: net.Socket) => void): Promise<string> {
  const client = net.connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  sockets.push(client);
  const ended = new Promise<string>((resolve) => {
    client.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    client.once('end', () => resolve('end'));
  });
  client.resume();
  await once(client, 'connect');
  begin(client);
  return ended;
}

const BEGINNINGS: [string, (client: net.Socket) => void][] = [
  ['says nothing', () => undefined],
  ['asks', (client) => client.write('hello')],
  ['asks and half-closes', (client) => client.end('hello')],
  ['half-closes', (client) => client.end()],
];

describe.each(BEGINNINGS)('a client that %s sees a reset', (_name, begin) => {
  it('when the target resets at once', async () => {
    const dstPort = await world.target((socket) => socket.resetAndDestroy());
    const { record } = await world.create({ dstPort });
    expect(await ending(record.port, begin)).toBe('ECONNRESET');
  });

  it('when the target resets a little later', async () => {
    const dstPort = await world.target((socket) => setTimeout(() => socket.resetAndDestroy(), 50));
    const { record } = await world.create({ dstPort });
    expect(await ending(record.port, begin)).toBe('ECONNRESET');
  });

  it('when the target has stopped listening', async () => {
    const server = net.createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const dstPort = (server.address() as net.AddressInfo).port;
    server.close();
    const { record } = await world.create({ dstPort });
    expect(await ending(record.port, begin)).toBe('ECONNRESET');
  });

  it('when the forward is revoked', async () => {
    let arrived = false;
    const dstPort = await world.target(() => {
      arrived = true;
    });
    const { record } = await world.create({ dstPort });
    const seen = ending(record.port, begin);
    await waitUntil('it is through', () => arrived);
    await world.forwards.revoke(record.team_id, record.router_id, record.id);
    expect(await seen).toBe('ECONNRESET');
  });
});

describe('a target sees a reset', () => {
  // Of one that has half-closed the target has seen the end before, and the reset says nothing more.
  it.each(BEGINNINGS.slice(0, 2))('when a client that %s resets right after connecting', async (_name, begin) => {
    const seen: string[] = [];
    const dstPort = await world.target((socket) => {
      sockets.push(socket);
      socket.once('error', (error: NodeJS.ErrnoException) => seen.push(error.code ?? error.message));
      socket.once('end', () => seen.push('end'));
      socket.resume();
    });
    const { record } = await world.create({ dstPort });
    const rounds = 20;
    for (let round = 0; round < rounds; round += 1) {
      const client = net.connect({ port: record.port, host: '127.0.0.1', allowHalfOpen: true });
      sockets.push(client);
      client.on('error', () => undefined);
      await once(client, 'connect');
      begin(client);
      client.resetAndDestroy();
    }
    // A client may be gone before its connection is carried, and then the target hears nothing of it.
    await waitUntil('all are over', async () => (await world.get(record.id)).openConnections === 0);
    await waitUntil('the last has ended', () => seen.length >= sockets.length - rounds);
    expect(seen.filter((how) => how !== 'ECONNRESET')).toEqual([]);
    expect(seen.length).toBeGreaterThan(0);
  });
});
