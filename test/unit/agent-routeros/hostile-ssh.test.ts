import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Connection } from 'ssh2';
import { afterEach, expect, test } from 'vitest';
import { connectSsh, type SshOptions, type SshSession } from '../../../agent/routers/ssh/index.ts';
import { hasOpensshServer, startOpensshServer } from '../../harness/openssh-server.ts';
import { type HostileSshServer, onChannel, type RawProtocol, startHostileSshServer } from '../../harness/hostile-ssh-server.ts';
import { UnexpectedErrors } from '../../harness/unexpected-errors.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import { Stopwatch } from '../../harness/stopwatch.ts';

/** An SSH server of a hostile router that sends garbage after the login, or instead of it. */

const SOON = { timeoutMs: 10_000 };
const EXEC = { ...SOON, maxBytes: 1000 };
const STDERR = 1;
const closers: (() => Promise<unknown>)[] = [];
const errors = new UnexpectedErrors();

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
  expect(errors.take()).toEqual([]);
});

async function hostile(serve: (connection: Connection, protocol: RawProtocol) => void): Promise<HostileSshServer> {
  const server = await startHostileSshServer(serve);
  closers.push(() => server.close());
  return server;
}

async function recordedKeys(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'hostile-ssh-'));
  closers.push(() => rm(folder, { recursive: true }));
  return path.join(folder, 'router.hostkey');
}

async function logIn({ port }: { port: number }, options: Partial<SshOptions> = {}): Promise<SshSession> {
  const hostKey = { file: await recordedKeys() };
  const session = await connectSsh({ host: '127.0.0.1', port, username: 'agent', password: 'secret', hostKey, deadline: SOON, ...options });
  closers.push(() => session.close());
  return session;
}

/** A proxy in front of a server that adds garbage after a number of bytes of the server. */
async function garbageAfter(serverPort: number, bytes: number): Promise<number> {
  const sockets = new Set<Socket>();
  const proxy: Server = createServer((client) => {
    const server = connect(serverPort, '127.0.0.1');
    let passed = 0;
    for (const socket of [client, server]) sockets.add(socket.on('error', () => undefined));
    client.on('data', (chunk: Buffer) => server.write(chunk));
    server.on('data', (chunk: Buffer) => {
      passed += chunk.length;
      client.write(passed >= bytes ? Buffer.concat([chunk, randomBytes(4096)]) : chunk);
    });
    client.on('close', () => server.destroy());
  });
  closers.push(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => proxy.close(resolve));
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  return (proxy.address() as AddressInfo).port;
}

test('a changed host key followed by garbage refuses the login and ends nothing else', async () => {
  const server = await hostile(() => undefined);
  const file = await recordedKeys();
  await writeFile(file, 'SHA256:another\n');
  // From the greeting on until behind the key exchange: the verdict falls while the garbage is read.
  for (let bytes = 1; bytes < 3000; bytes += 200) {
    const port = await garbageAfter(server.port, bytes);
    await expect(logIn({ port }, { hostKey: { file } })).rejects.toMatchObject({ code: 'router_unreachable' });
  }
  await expect(logIn(server, { hostKey: { file } })).rejects.toMatchObject({
    message: expect.stringContaining('the host key has changed'),
  });
});

test('a first host key followed by garbage ends nothing else', async () => {
  const server = await hostile(() => undefined);
  for (let bytes = 1; bytes < 3000; bytes += 200) {
    const port = await garbageAfter(server.port, bytes);
    // Garbage that comes late enough breaks a session that is there.
    await logIn({ port }).catch((error: unknown) => expect(error).toMatchObject({ code: 'router_unreachable' }));
  }
  expect((await logIn(server)).alive).toBe(true);
});

test.each<[string, (protocol: RawProtocol, id: number) => void]>([
  ['output', (protocol, id) => protocol.channelData(id, Buffer.from('more'))],
  ['output for stderr', (protocol, id) => protocol.channelExtData(id, Buffer.from('more'), STDERR)],
])('%s after the end of the output ends at most the request', async (_name, more) => {
  const server = await hostile((connection, protocol) => {
    onChannel(connection, (_channel, id) => {
      protocol.channelEOF(id);
      more(protocol, id);
      setImmediate(() => protocol.channelClose(id));
    });
  });
  const session = await logIn(server);
  await session.exec(':put 1', EXEC).catch(() => undefined);
  const stream = await session.openTcp({ host: '10.0.0.1', port: 80 }, SOON).catch(() => undefined);
  stream?.on('error', () => undefined).resume();
  await waitUntil('the stream ends', () => stream?.destroyed ?? true);
  expect((await logIn(server)).alive).toBe(true);
});

test('a channel with packets of no bytes is refused', async () => {
  const server = await hostile((_connection, protocol) => {
    protocol._handlers['CHANNEL_OPEN'] = (raw, ...words: never[]) => {
      raw.channelOpenConfirm((words as unknown as [{ sender: number }])[0].sender, 0, 1_000_000, 0);
    };
  });
  const session = await logIn(server);
  const opened = session.openTcp({ host: '10.0.0.1', port: 80 }, SOON).then((stream) => stream.write('x'));
  await expect(opened).rejects.toMatchObject({ message: expect.stringContaining('packets of 0 bytes') });
});

test.each<[string, (protocol: RawProtocol) => void]>([
  ['for a channel that is not there', (protocol) => protocol.channelData(77, Buffer.alloc(100))],
  ['keepalives', (protocol) => protocol.ping()],
])('a router that sends endless unsolicited data is dropped: %s', async (_name, send) => {
  const server = await hostile((connection, protocol) => {
    const pour = (): void => {
      for (let sent = 0; sent < 200; sent += 1) send(protocol);
      timer = setTimeout(pour, 1);
    };
    let timer = setTimeout(pour, 1);
    connection.on('close', () => clearTimeout(timer));
  });
  const session = await logIn(server);
  const reason = await new Promise<string>((resolve) => session.onClose(resolve));
  expect(reason).toBe('the router keeps sending unsolicited data');
});

test('an endless greeting is dropped', async () => {
  const server = createServer((socket) => {
    const line = Buffer.from('not a greeting of SSH\r\n');
    socket.on('error', () => undefined);
    const timer = setInterval(() => socket.write(Buffer.concat(Array.from({ length: 100 }, () => line))), 1);
    socket.on('close', () => clearInterval(timer));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(() => new Promise((resolve) => server.close(resolve)));
  await expect(logIn({ port: (server.address() as AddressInfo).port })).rejects.toMatchObject({ code: 'router_unreachable' });
});

test.skipIf(!hasOpensshServer)('a group that the router chose for the key exchange does not block the process', async () => {
  const sshd = await startOpensshServer(['KexAlgorithms diffie-hellman-group-exchange-sha256', 'Ciphers aes256-ctr', 'MACs hmac-sha2-256']);
  closers.push(() => sshd.close());
  let longest = 0;
  const stopwatch = new Stopwatch();
  const watch = setInterval(() => {
    longest = Math.max(longest, stopwatch.ms);
    stopwatch.restart();
  }, 5);
  const session = await logIn(sshd, {
    username: sshd.username,
    password: undefined,
    privateKey: sshd.privateKey,
    hostKey: { fingerprint: sshd.hostKey },
  });
  expect((await session.exec('echo here', EXEC)).text).toBe('here\n');
  clearInterval(watch);
  // 8192 bits take 0.2 s in one piece; with the check of the prime they took 30 s.
  expect(longest).toBeLessThan(3000);
});
