import { once } from 'node:events';
import net from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { Channel, CHANNEL_TIMING } from '../../protocol/channel.ts';
import { FakeChannelSocket } from '../harness/fake-channel-socket.ts';
import { waitUntil } from '../harness/wait-until.ts';

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/** Both ends of a TCP connection: the first is the client's. */
async function tcpPair(): Promise<[net.Socket, net.Socket]> {
  const server = net.createServer({ allowHalfOpen: true, pauseOnConnect: true }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = net.connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' });
  const [accepted] = (await once(server, 'connection')) as [net.Socket];
  client.on('error', () => undefined);
  closers.push(
    () => client.destroy(),
    () => accepted.destroy(),
    () => server.close(),
  );
  return [client, accepted];
}

test('a reset of a client is detected while the channel is full', async () => {
  const [here, there] = [new FakeChannelSocket(), new FakeChannelSocket()];
  here.peer = there;
  there.peer = here;
  // As every WebSocket does; otherwise the channel is taken for dead, now and then before the reset shows.
  there.on('ping', () => here.emit('pong', Buffer.alloc(0)));
  const channel = new Channel(here, 'opener', { onClosed: () => undefined }, { ...CHANNEL_TIMING, pingMs: 20 });
  closers.push(() => channel.terminate('the test is over'));
  const [client, accepted] = await tcpPair();
  const connection = channel.open()!;
  const ends: string[] = [];
  connection.whenClosed((end) => ends.push(end));
  connection.attach(accepted);
  // More than all the buffers on the way, and the peer takes none of it.
  client.write(Buffer.alloc(32_000_000));
  await waitUntil('the channel is full', () => accepted.isPaused());
  client.resetAndDestroy();
  await waitUntil('the reset is noticed', () => ends.length > 0);
  expect(ends).toEqual(['local_reset']);
});
