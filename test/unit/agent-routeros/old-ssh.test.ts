import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Duplex } from 'node:stream';
import ssh2, { type Connection, type ServerChannel, type ServerConfig } from 'ssh2';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { connectSsh, hostKeyFile, type SshOptions, type SshSession } from '../../../agent/routers/ssh/index.ts';
import { eventually } from '../../harness/wait-until.ts';

/** Servers that OpenSSH cannot simulate: very old ones, ones without password logins, and ones that fall silent. */

const SOON = { timeoutMs: 5000 };
const closers: (() => Promise<unknown>)[] = [];
const { private: hostKey } = ssh2.utils.generateKeyPairSync('rsa', { bits: 2048 });
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'old-ssh-'));
});

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
  await rm(folder, { recursive: true });
});

async function serve(config: Partial<ServerConfig>, onConnection: (connection: Connection) => void): Promise<number> {
  const connections = new Set<Connection>();
  const server = new ssh2.Server({ hostKeys: [hostKey], ident: 'ROSSSH', ...config }, (connection) => {
    connections.add(connection);
    connection.on('error', () => undefined);
    onConnection(connection);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(async () => {
    for (const connection of connections) connection.end();
    const closed = once(server, 'close');
    server.close();
    await closed;
  });
  return (server.address() as AddressInfo).port;
}

async function connect(port: number, options: Partial<SshOptions> = {}): Promise<SshSession> {
  const session = await connectSsh({
    host: '127.0.0.1',
    port,
    username: 'jürgen',
    password: 'Łódź€',
    hostKey: hostKeyFile(folder, 'old'),
    deadline: SOON,
    ...options,
  });
  closers.push(() => session.close());
  return session;
}

/** Lets everyone in and answers every line with it. */
function echo(connection: Connection): void {
  connection.on('authentication', (login) => {
    login.accept();
  });
  connection.on('session', (accept) => {
    accept().on('exec', (acceptExec, _reject, { command }) => {
      const channel = acceptExec();
      channel.write(`${command}\r\n`);
      channel.end();
    });
  });
}

describe('a login', () => {
  it('by password sends it in UTF-8', async () => {
    let seen: unknown;
    const port = await serve({}, (connection) => {
      connection.on('authentication', (login) => {
        if (login.method !== 'password') {
          login.reject(['password']);
          return;
        }
        seen = [login.username, login.password];
        login.accept();
      });
    });
    await connect(port);
    expect(seen).toEqual(['jürgen', 'Łódź€']);
  });

  it('falls back to keyboard-interactive', async () => {
    let answers: string[] = [];
    const port = await serve({}, (connection) => {
      connection.on('authentication', (login) => {
        if (login.method !== 'keyboard-interactive') {
          login.reject(['keyboard-interactive']);
          return;
        }
        login.prompt([{ prompt: 'Password: ', echo: false }], (given) => {
          answers = given;
          login.accept();
        });
      });
    });
    await connect(port);
    expect(answers).toEqual(['Łódź€']);
  });

  it('that is refused reports it, and never the password', async () => {
    const port = await serve({}, (connection) => {
      connection.on('authentication', (login) => {
        login.reject(['password']);
      });
    });
    const error: unknown = await connect(port).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'router_unreachable', message: expect.stringContaining('login refused') });
    expect(String(error)).not.toContain('Łódź');
  });

  it('with an empty password is tried', async () => {
    const port = await serve({}, (connection) => {
      connection.on('authentication', (login) => {
        if (login.method === 'password' && login.password === '') login.accept();
        else login.reject(['password']);
      });
    });
    await connect(port, { password: '' });
  });
});

describe('an old router', () => {
  it.each([
    ['SHA-1 key exchange', { kex: ['diffie-hellman-group14-sha1'] }],
    ['CBC ciphers', { cipher: ['aes128-cbc'] }],
    ['ssh-rsa alone', { serverHostKey: ['ssh-rsa'] }],
    ['all of them', { kex: ['diffie-hellman-group14-sha1'], cipher: ['aes256-cbc'], serverHostKey: ['ssh-rsa'], hmac: ['hmac-sha1'] }],
  ])('that has only %s is supported', async (_what, algorithms) => {
    const ssh = await connect(await serve({ algorithms: algorithms as never }, echo));
    expect(await ssh.exec('/system identity print', { ...SOON, maxBytes: 1000 })).toEqual({
      text: '/system identity print\n',
      truncated: false,
      // RouterOS need not send one; it says nothing.
      exitStatus: null,
    });
  });
});

describe('a router that falls silent', () => {
  it('before its banner fails at the deadline', async () => {
    const server = createServer((socket) => {
      // Read, so that its end is noticed; nothing is ever said.
      socket.on('error', () => undefined).resume();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    closers.push(() => new Promise((resolve) => server.close(resolve)));
    const { port } = server.address() as AddressInfo;
    await expect(connect(port, { deadline: { timeoutMs: 200 } })).rejects.toMatchObject({ code: 'router_unreachable' });
  });

  it('in the login fails at the deadline', async () => {
    const port = await serve({}, (connection) => {
      connection.on('authentication', () => undefined);
    });
    // Long enough for the handshake before the login on a busy machine.
    await expect(connect(port, { deadline: { timeoutMs: 8_000 } })).rejects.toMatchObject({
      code: 'router_unreachable',
      message: expect.stringContaining('no answer within'),
      reason: 'timeout',
    });
  });

  it('when asked for a channel fails at the deadline, each operation at its own', async () => {
    const port = await serve({}, (connection) => {
      connection.on('authentication', (login) => login.accept());
      connection.on('session', () => undefined);
      connection.on('tcpip', () => undefined);
    });
    const ssh = await connect(port);
    const soon = { timeoutMs: 100, maxBytes: 10 };
    const given = [ssh.exec('x', soon), ssh.openTcp({ host: '10.0.0.1', port: 80 }, soon), ssh.readFile('x', soon)];
    for (const errand of given) await expect(errand).rejects.toMatchObject({ code: 'outcome_unknown' });
    const caller = new AbortController();
    const aborted = ssh.openTcp({ host: '10.0.0.1', port: 80 }, { timeoutMs: 60_000, signal: caller.signal });
    caller.abort();
    await expect(aborted).rejects.toMatchObject({ code: 'outcome_unknown' });
    expect(ssh.alive).toBe(true);
  });
});

describe('forwarding', () => {
  it('distinguishes a failed connection (reason 2) from disabled forwarding (reason 1)', async () => {
    const cannot = await connect(
      await serve({}, (connection) => {
        connection.on('authentication', (login) => login.accept());
        connection.on('tcpip', (_accept, reject) => reject());
      }),
    );
    await expect(cannot.openTcp({ host: '10.0.0.1', port: 80 }, SOON)).rejects.toMatchObject({ code: 'rejected' });
    const off = await connect(
      await serve({}, (connection) => {
        connection.on('authentication', (login) => login.accept());
      }),
      { hostKey: hostKeyFile(folder, 'another') },
    );
    await expect(off.openTcp({ host: '10.0.0.1', port: 80 }, SOON)).rejects.toMatchObject({ code: 'not_allowed' });
  });

  async function throughRouter(serveTarget: (channel: ServerChannel) => void): Promise<Duplex> {
    const port = await serve({}, (connection) => {
      connection.on('authentication', (login) => login.accept());
      connection.on('tcpip', (accept) => {
        serveTarget(accept());
      });
    });
    const stream = await (await connect(port)).openTcp({ host: '10.0.0.1', port: 80 }, SOON);
    stream.on('error', () => undefined);
    return stream;
  }

  const write = (stream: Duplex, bytes: Buffer): Promise<unknown> => new Promise((resolve) => stream.write(bytes, resolve));

  it('to a target that disappears fails the waiting write', async () => {
    // More than the window of 2 MB, so the write is under way when the target closes.
    const stream = await throughRouter((channel) => {
      channel.once('readable', () => {
        channel.close();
      });
    });
    expect(await write(stream, Buffer.alloc(8 * 1024 * 1024))).toBeInstanceOf(Error);
  });

  it('to a target that is gone fails the next write, while its data can still be read', async () => {
    const stream = await throughRouter((channel) => {
      channel.end('last words');
      channel.close();
    });
    await eventually(async () => {
      expect(await write(stream, Buffer.from('x'))).toBeInstanceOf(Error);
    });
  });
});
