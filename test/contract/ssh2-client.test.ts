import { createServer, type AddressInfo, type Server } from 'node:net';
import { once } from 'node:events';
import ssh2, { type Client, type ClientChannel, type ConnectConfig, type SFTPWrapper } from 'ssh2';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startSimulator, type Simulator } from '../simulator/index.ts';
import { createHostKey, fingerprintOf, startSshServer } from '../simulator/ssh/server.ts';

let simulator: Simulator;
const clients: Client[] = [];

beforeEach(async () => {
  simulator = await startSimulator({ version: '7.18.2', apiPort: null, users: [{ name: 'admin', password: 'pw' }] });
});

afterEach(async () => {
  for (const client of clients.splice(0)) client.destroy();
  await simulator.close();
});

function connect(config: ConnectConfig = {}): Promise<Client> {
  const client = new ssh2.Client();
  clients.push(client);
  return new Promise((resolve, reject) => {
    client.once('ready', () => resolve(client));
    // Errors after this are those of a connection the test itself cuts.
    client.on('error', reject);
    client.connect({ host: '127.0.0.1', port: simulator.sshPort, username: 'admin', password: 'pw', readyTimeout: 10_000, ...config });
  });
}

function exec(client: Client, line: string): Promise<string> {
  return new Promise((resolve, reject) => {
    client.exec(line, (error, channel) => {
      if (error) return reject(error);
      let text = '';
      channel.on('data', (chunk: Buffer) => (text += chunk.toString()));
      channel.once('close', () => resolve(text));
    });
  });
}

function forward(client: Client, port: number, host = '127.0.0.1'): Promise<ClientChannel> {
  return new Promise((resolve, reject) => {
    client.forwardOut('127.0.0.1', 1, host, port, (error, channel) => (error ? reject(error) : resolve(channel)));
  });
}

function openSftp(client: Client): Promise<SFTPWrapper> {
  return new Promise((resolve, reject) => {
    client.sftp((error, sftp) => (error ? reject(error) : resolve(sftp)));
  });
}

/** The answer of one SFTP call, or its status code. */
function ask<T>(call: (done: (error: Error | null | undefined, value?: T) => void) => void): Promise<T | number | undefined> {
  return new Promise((resolve) => {
    call((error, value) => resolve(error ? (error as Error & { code: number }).code : value));
  });
}

function setForwarding(value: string): void {
  const table = simulator.router.table('/ip/ssh');
  const [item] = table.items;
  if (item !== undefined) table.update(item, [['forwarding-enabled', value]]);
}

async function withTarget(use: (port: number) => Promise<void>): Promise<void> {
  const target: Server = createServer((socket) => socket.on('error', () => socket.destroy()).end('hello'));
  target.listen(0, '127.0.0.1');
  await once(target, 'listening');
  try {
    await use((target.address() as AddressInfo).port);
  } finally {
    target.close();
  }
}

test('one connection carries many commands at once', async () => {
  const client = await connect();
  const lines = Array.from({ length: 10 }, (_, index) => `:delay 10ms; :put "answer ${index}"`);
  const answers = await Promise.all(lines.map((line) => exec(client, line)));
  expect(answers).toEqual(lines.map((_, index) => `answer ${index}\r\n`));
});

test('only the first line of a command is read', async () => {
  expect(await exec(await connect(), ':put 1\n:put 2')).toBe('1\r\n');
});

test('the banner names no version', async () => {
  const client = new ssh2.Client();
  clients.push(client);
  client.on('error', () => undefined);
  const header = new Promise<string>((resolve) => {
    client.once('handshake', () => resolve((client as unknown as { _remoteVer: string })._remoteVer));
  });
  client.connect({ host: '127.0.0.1', port: simulator.sshPort, username: 'admin', password: 'pw' });
  expect(await header).toBe('ROSSSH');
});

test('refused forwards say why, and the setting counts at once', async () => {
  await withTarget(async (port) => {
    const client = await connect();
    await expect(forward(client, port)).rejects.toMatchObject({ reason: 1 });
    setForwarding('local');
    const channel = await forward(client, port);
    expect(String(await once(channel, 'data'))).toBe('hello');
    await expect(forward(client, 1)).rejects.toMatchObject({ reason: 2 });
    await expect(forward(client, 80, '192.0.2.1')).rejects.toMatchObject({ reason: 2 });
    setForwarding('remote');
    await expect(forward(client, port)).rejects.toMatchObject({ reason: 1 });
  });
});

test('files are read to their end, sized by stat and only roughly by a listing', async () => {
  simulator.router.files.write('flash/a.txt', 'x'.repeat(5000));
  const sftp = await openSftp(await connect());
  expect(await ask((done) => sftp.stat('/flash/a.txt', done))).toMatchObject({ size: 5000 });
  const entries = (await ask((done) => sftp.readdir('flash', done))) as { filename: string; attrs: { size: number } }[];
  expect(entries.map(({ filename, attrs }) => [filename, attrs.size])).toEqual([['a.txt', 8192]]);
  expect(String(await ask((done) => sftp.readFile('flash/a.txt', done)))).toBe('x'.repeat(5000));
  expect(await ask((done) => sftp.realpath('.', done))).toBe('/');
});

test('what is not there, or there already, is refused with its status', async () => {
  simulator.router.files.write('there', '1');
  const sftp = await openSftp(await connect());
  expect(await ask((done) => sftp.stat('nowhere', done))).toBe(2);
  expect(await ask((done) => sftp.unlink('nowhere', done))).toBe(2);
  expect(await ask((done) => sftp.open('there', 'wx', done))).toBe(4);
  expect(await ask((done) => sftp.open('nowhere', 'r', done))).toBe(2);
  simulator.faults.diskFull = true;
  expect(await ask((done) => sftp.open('new', 'w', done))).toBe(4);
});

test('an upload cut off leaves what had arrived, and does not run it', async () => {
  const client = await connect();
  const sftp = await openSftp(client);
  const handle = (await ask((done) => sftp.open('cut.auto.rsc', 'w', done))) as Buffer;
  await ask((done) => sftp.write(handle, Buffer.from(':put 1'), 0, 6, 0, done));
  client.on('error', () => undefined);
  client.destroy();
  await expect.poll(() => simulator.router.files.read('cut.auto.rsc')?.toString()).toBe(':put 1');
  expect(simulator.router.executions.containing('cut.auto.rsc')).toEqual([]);
});

test('a blackholed session neither answers nor closes', async () => {
  const client = await connect();
  for (const { session } of simulator.router.sessions.list()) session.blackhole();
  const answer = exec(client, ':put x');
  const result = await Promise.race([answer, new Promise((resolve) => setTimeout(() => resolve('silence'), 200))]);
  expect(result).toBe('silence');
});

test('a router of long ago needs its SHA-1 and CBC asked for', async () => {
  const old = await startSshServer(simulator.router, { host: '127.0.0.1', port: 0, algorithms: 'sha1-cbc' });
  try {
    await expect(connect({ port: old.port })).rejects.toThrow('no matching');
    const client = await connect({
      port: old.port,
      algorithms: {
        kex: { append: ['diffie-hellman-group14-sha1'], prepend: [], remove: [] },
        cipher: { append: ['aes128-cbc'], prepend: [], remove: [] },
      },
    });
    expect(await exec(client, ':put old')).toBe('old\r\n');
  } finally {
    await old.close();
  }
});

test.each(['rsa', 'ed25519'] as const)('a fixed %s host key gives its fingerprint', async (type) => {
  const hostKey = await createHostKey(type, 2048);
  const server = await startSshServer(simulator.router, { host: '127.0.0.1', port: 0, hostKey });
  try {
    let seen = '';
    await connect({
      port: server.port,
      hostHash: 'sha256',
      hostVerifier: (hash: string) => {
        seen = Buffer.from(hash, 'hex').toString('base64').replace(/=+$/, '');
        return true;
      },
    });
    expect(server.fingerprint).toBe(`SHA256:${seen}`);
    expect(fingerprintOf(hostKey)).toBe(server.fingerprint);
  } finally {
    await server.close();
  }
});

test('what is no key is refused at the start', async () => {
  await expect(startSshServer(simulator.router, { host: '127.0.0.1', port: 0, hostKey: 'no key' })).rejects.toThrow(RangeError);
});

test('a client that guesses on is cut off', async () => {
  const client = new ssh2.Client();
  clients.push(client);
  let guesses = 0;
  const ended = new Promise<void>((resolve) => {
    client.once('close', resolve);
  });
  client.on('error', () => undefined);
  client.connect({
    host: '127.0.0.1',
    port: simulator.sshPort,
    username: 'admin',
    authHandler: (_left, _partial, next) => {
      guesses += 1;
      next({ type: 'password', username: 'admin', password: `guess ${guesses}` });
    },
  });
  await ended;
  expect(guesses).toBe(7);
  expect(simulator.log.filter((line) => line.startsWith('login failure for user admin'))).toHaveLength(7);
});
