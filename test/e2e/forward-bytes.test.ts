import type { Socket } from 'node:net';
import process from 'node:process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectTo, endOf, receiveBytes, TargetServer } from '../harness/byte-stream.ts';
import { API, DIRECT, exchangeAtOnce, oneAfterAnother, openForward, SSH, stallReaders } from '../harness/forward-traffic.ts';
import { hasOpensshServer } from '../harness/openssh-server.ts';
import { ProcessWorld } from '../harness/process-world.ts';
import { waitUntil } from '../harness/wait-until.ts';

/**
 * Bytes through forwards of a control plane and an agent that are processes of their own, by every way. The same at
 * length is in test/long/forward-bytes.long.ts.
 */
let world: ProcessWorld;

beforeAll(async () => {
  if (!hasOpensshServer) process.stderr.write('sshd is not installed: the ssh way is not tested with it\n');
  world = await ProcessWorld.start({
    routers: [{ ways: { api: true, ssh: hasOpensshServer ? 'openssh' : 'simulated' } }, { ways: { api: true } }],
  });
});
afterAll(() => world?.close());

describe.each([DIRECT, SSH, API])('by the $way way', (place) => {
  test('64 connections at once carry 2 MB each way unchanged', async () => {
    await exchangeAtOnce(world, place, { connections: 64, bytes: 2_000_000 });
  });

  test('stalled readers use bounded memory and delay no other connection', async () => {
    await stallReaders(world, place, { readers: 4, forMs: 2500, mostBytesEach: 4_000_000 });
  });

  test('1,000 consecutive connections leak nothing', async () => {
    await oneAfterAnother(world, place, { warmUp: 250, connections: 1000, mostGrowth: 64_000_000 });
  });

  test('a half-close is forwarded, and the other direction stays open', async () => {
    const target = await TargetServer.listen((socket) => {
      void receiveBytes(socket).then(
        ({ bytes }) => socket.end(`got ${bytes}`),
        () => undefined,
      );
    });
    const forward = await openForward(world, target.port, place);
    const asking = connectTo(forward.port);
    const answer = receiveBytes(asking);
    asking.end('x'.repeat(1000));
    expect(await answer).toMatchObject({ bytes: 'got 1000'.length });
    target.close();

    let heard: Promise<{ bytes: number }> | undefined;
    const talker = await TargetServer.listen((socket) => {
      heard = receiveBytes(socket);
      heard.catch(() => undefined);
      socket.end('bye');
    });
    const second = await openForward(world, talker.port, place);
    const late = connectTo(second.port);
    expect(await receiveBytes(late)).toMatchObject({ bytes: 3 });
    late.end('after the end of the answer');
    expect(await heard).toMatchObject({ bytes: 27 });
    talker.close();
    await Promise.all([world.revoke(forward), world.revoke(second)]);
  });
});

/** A client and the target's end of the same connection. */
async function pair(port: number, target: TargetServer): Promise<[Socket, Socket]> {
  const client = connectTo(port);
  client.write('x');
  const socket = await waitUntil('the target is connected', () => target.sockets.find((candidate) => candidate.bytesRead === 1));
  return [client, socket];
}

// SSH has no word for a reset: OpenSSH shows a reset target as one that has ended, and closes towards the target.
describe.each([
  { ...DIRECT, seen: 'ECONNRESET' },
  { ...API, seen: 'ECONNRESET' },
  { ...SSH, seen: 'end' },
])('a reset by the $way way', ({ seen, ...place }) => {
  test.each(['client', 'target'] as const)('of the %s arrives', async (who) => {
    const target = await TargetServer.listen((socket) => socket.resume());
    const forward = await openForward(world, target.port, place);
    const [client, socket] = await pair(forward.port, target);
    const [broken, other] = who === 'client' ? [client, socket] : [socket, client];
    const ended = endOf(other);
    broken.resetAndDestroy();
    expect(await ended).toBe(seen);
    other.end();
    await waitUntil('it is over', async () => (await world.shown(forward)).open_connections === 0);
    await world.revoke(forward);
    target.close();
  });
});
