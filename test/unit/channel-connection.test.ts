import { once } from 'node:events';
import net from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test, vi } from 'vitest';
import { connectTcp } from '../../agent/forward/tcp.ts';
import { ChannelConnection } from '../../protocol/index.ts';
import { freezeWatch } from '../../runtime/freeze-watch.ts';
import { waitUntil } from '../harness/wait-until.ts';

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/** A connection of a channel whose other side is the test. */
function connectionOf(): { connection: ChannelConnection; ends: string[]; halfCloses: () => number; sent: () => string } {
  let [halfCloses, sent] = [0, ''];
  const port = {
    sendBytes: (_connection: ChannelConnection, chunk: Buffer) => void (sent += chunk.toString()),
    isFull: () => false,
    sendEnd: () => void (halfCloses += 1),
    sendReset: () => undefined,
    setPaused: () => undefined,
  };
  const connection = new ChannelConnection(port, 1);
  const ends: string[] = [];
  connection.whenClosed((end) => ends.push(end));
  return { connection, ends, halfCloses: () => halfCloses, sent: () => sent };
}

/** A target that keeps what it is sent. */
async function target(): Promise<{ port: number; received: () => string; arrivals: () => number }> {
  let [received, arrivals] = ['', 0];
  const server = net.createServer((socket) => {
    arrivals += 1;
    socket.on('data', (data) => (received += data.toString())).on('error', () => undefined);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(() => server.close());
  return { port: (server.address() as AddressInfo).port, received: () => received, arrivals: () => arrivals };
}

test.each([
  ['is reset', (connection: ChannelConnection) => connection.receiveReset(), 'peer_reset'],
  ['is cut', (connection: ChannelConnection) => connection.cut('revoked'), 'cut'],
  ['loses its channel', (connection: ChannelConnection) => connection.lost(), 'channel_lost'],
] as const)(
  'a connection that %s while its target is being dialled is over, and the target gets nothing of it',
  async (_what, happen, end) => {
    for (const [bytes, isEnded] of [
      [true, true],
      [true, false],
      [false, true],
      [false, false],
    ] as const) {
      const { port, received } = await target();
      const { connection, ends } = connectionOf();
      const socket = connectTcp({ host: '127.0.0.1', port }, { timeoutMs: 5000 });
      connection.attach(socket);
      if (bytes) connection.receiveBytes(Buffer.from('rm -rf / please'), undefined);
      if (isEnded) connection.receiveEnd();
      happen(connection);
      await waitUntil('it is reported', () => ends.length > 0);
      expect(ends).toEqual([end]);
      expect(socket.closed).toBe(true);
      // A new connection arrives after everything that was in transit.
      await once(net.connect(port, '127.0.0.1').end(), 'close');
      expect(received()).toBe('');
    }
  },
);

test('a half-close before the client was attached is passed on', async () => {
  const server = net.createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = net.connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', allowHalfOpen: true });
  const [accepted] = (await once(server, 'connection')) as [net.Socket];
  closers.push(
    () => server.close(),
    () => client.destroy(),
    () => accepted.destroy(),
  );
  client.end();
  accepted.resume();
  await once(accepted, 'end');
  const { connection, ends, halfCloses } = connectionOf();
  connection.attach(accepted);
  expect(halfCloses()).toBe(1);
  connection.receiveEnd();
  await waitUntil('both directions have ended', () => ends.length > 0);
  expect(ends).toEqual(['finished']);
});

test.each(['from the client', 'from the channel'])(
  'bytes %s that waited while this process stood still end the connection, and do not pass',
  async (from) => {
    const { port, received, arrivals } = await target();
    const { connection, ends, sent } = connectionOf();
    const socket = net.connect(port, '127.0.0.1');
    connection.attach(socket);
    await waitUntil('it is connected', () => arrivals() > 0);
    const frozen = vi.spyOn(freezeWatch, 'hasFrozen', 'get').mockReturnValue(true);
    closers.push(() => frozen.mockRestore());
    if (from === 'from the channel') connection.receiveBytes(Buffer.from('revoked meanwhile'), undefined);
    else socket.emit('data', Buffer.from('revoked meanwhile'));
    await waitUntil('it is reported', () => ends.length > 0);
    expect(ends).toEqual(['frozen']);
    expect(sent()).toBe('');
    await once(net.connect(port, '127.0.0.1').end(), 'close');
    expect(received()).toBe('');
  },
);
