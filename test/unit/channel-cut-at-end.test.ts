import { once } from 'node:events';
import net from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { Channel } from '../../protocol/channel.ts';
import { FakeChannelSocket } from '../harness/fake-channel-socket.ts';
import { waitUntil } from '../harness/wait-until.ts';

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/** A connection of a channel that carries one end of a TCP connection; the other end is the client's. */
async function carried(): Promise<{ client: net.Socket; connection: NonNullable<ReturnType<Channel['open']>>; ends: string[] }> {
  const server = net.createServer({ allowHalfOpen: true, pauseOnConnect: true }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = net.connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' });
  const [accepted] = (await once(server, 'connection')) as [net.Socket];
  client.on('error', () => undefined);
  const [here, there] = [new FakeChannelSocket(), new FakeChannelSocket()];
  here.peer = there;
  there.peer = here;
  const channel = new Channel(here, 'opener', { onClosed: () => undefined });
  closers.push(
    () => client.destroy(),
    () => accepted.destroy(),
    () => server.close(),
    () => channel.terminate('the test is over'),
  );
  const connection = channel.open()!;
  const ends: string[] = [];
  connection.whenClosed((end) => ends.push(end));
  connection.attach(accepted);
  return { client, connection, ends };
}

/** Node refuses to reset a socket that is just sending its end, and then never says that the socket is closed. */
test('a connection that is cut while its end is being sent is over', async () => {
  const { client, connection, ends } = await carried();
  client.resume();
  connection.receiveEnd();
  connection.cut('revoked');
  await waitUntil('the end is reported', () => ends.length > 0);
  expect(ends).toEqual(['cut']);
  await waitUntil('the client has noticed', () => client.closed);
});

test('a connection that is cut with bytes in transit is reset, not ended normally', async () => {
  const { client, connection, ends } = await carried();
  const failed = once(client, 'error').then(
    ([error]) => (error as NodeJS.ErrnoException).code,
    (error: NodeJS.ErrnoException) => error.code,
  );
  connection.receiveBytes(Buffer.alloc(32_000_000), undefined);
  connection.receiveEnd();
  connection.cut('revoked');
  await waitUntil('the end is reported', () => ends.length > 0);
  client.resume();
  expect(await failed).toBe('ECONNRESET');
});
