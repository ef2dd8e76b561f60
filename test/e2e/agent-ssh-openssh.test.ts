import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createConnection, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { AgentError } from '../../agent/core/errors.ts';
import { connectSsh, hostKeyFile, type SshOptions, type SshSession } from '../../agent/routers/ssh/index.ts';
import { hasOpensshServer, type OpensshServer, startOpensshServer } from '../harness/openssh-server.ts';
import { eventually } from '../harness/wait-until.ts';

/** The agent's SSH client against OpenSSH. */

/** Far more than it takes: a hundred programs start at once on a machine that may do other things. */
const SOON = { timeoutMs: 60_000 };
const EXEC = { ...SOON, maxBytes: 1_000_000 };
const sessions: SshSession[] = [];
const servers: Server[] = [];
let sshd: OpensshServer;

describe.skipIf(!hasOpensshServer)('with OpenSSH', () => {
  beforeAll(async () => {
    sshd = await startOpensshServer();
  });

  afterAll(() => sshd.close());

  afterEach(async () => {
    for (const session of sessions.splice(0)) await session.close();
    for (const server of servers.splice(0)) server.close();
  });

  async function connect(options: Partial<SshOptions> = {}): Promise<SshSession> {
    const { port, username, privateKey, hostKey } = sshd;
    const session = await connectSsh({
      host: '127.0.0.1',
      port,
      username,
      privateKey,
      hostKey: { fingerprint: hostKey },
      deadline: SOON,
      ...options,
    });
    sessions.push(session);
    return session;
  }

  async function listen(serve: (socket: Socket) => void): Promise<{ host: string; port: number }> {
    const server = createServer({ allowHalfOpen: true }, serve);
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return { host: '127.0.0.1', port: (server.address() as AddressInfo).port };
  }

  describe('a line', () => {
    it('is executed, and its output has LF only', async () => {
      const ssh = await connect();
      expect(await ssh.exec(String.raw`printf 'Zürich\r\nŁódź\n'`, EXEC)).toEqual({
        text: 'Zürich\nŁódź\n',
        truncated: false,
        exitStatus: 0,
      });
    });

    it('that ends without a status is not an error', async () => {
      const ssh = await connect();
      expect(await ssh.exec('kill -9 $$', EXEC)).toEqual({ text: '', truncated: false, exitStatus: null });
    });

    it('is cut off when it prints more than the limit', async () => {
      const ssh = await connect();
      const { text, truncated } = await ssh.exec('yes | head -c 3000000', { ...SOON, maxBytes: 1000 });
      expect(text).toHaveLength(1000);
      expect(truncated).toBe(true);
    });

    it('with a line break is refused', async () => {
      const ssh = await connect();
      await expect(ssh.exec('true\nfalse', EXEC)).rejects.toMatchObject({ code: 'invalid' });
    });

    it('that does not end is abandoned at the deadline, and the session stays open', async () => {
      const ssh = await connect();
      await expect(ssh.exec('sleep 60', { timeoutMs: 100, maxBytes: 10 })).rejects.toMatchObject({ code: 'outcome_unknown' });
      expect((await ssh.exec('echo still here', EXEC)).text).toBe('still here\n');
    });

    it('runs beside a hundred others', async () => {
      // OpenSSH allows ten channels of this kind; the others are refused, not lost.
      const ssh = await connect();
      const outcomes = await Promise.allSettled(Array.from({ length: 100 }, (_, n) => ssh.exec(`echo ${n}`, EXEC)));
      const refused = outcomes.filter((outcome) => outcome.status === 'rejected').map(({ reason }) => (reason as AgentError).code);
      expect(new Set([...refused, 'rejected'])).toEqual(new Set(['rejected']));
      expect(outcomes[0]).toMatchObject({ value: { text: '0\n' } });
    });
  });

  describe('a connection through the router', () => {
    it('carries bytes unchanged both ways', async () => {
      const target = await listen((socket) => socket.pipe(socket));
      const stream = await (await connect()).openTcp(target, SOON);
      const sent = randomBytes(8 * 1024 * 1024);
      const received = createHash('sha256');
      stream.end(sent);
      for await (const chunk of stream) received.update(chunk as Buffer);
      expect(received.digest('hex')).toBe(createHash('sha256').update(sent).digest('hex'));
    });

    it('keeps half-close in both directions', async () => {
      let heard = '';
      const target = await listen((socket) => {
        socket.setEncoding('utf8').on('data', (text: string) => {
          heard += text;
        });
        socket.on('end', () => socket.end(`heard ${heard}`));
      });
      const stream = await (await connect()).openTcp(target, SOON);
      stream.end('question');
      expect((await stream.toArray()).join('')).toBe('heard question');

      const talker = await listen((socket) => {
        socket.end('that is all');
        socket.setEncoding('utf8').on('data', (text: string) => {
          heard = text;
        });
      });
      const other = await (await connect()).openTcp(talker, SOON);
      expect((await other.toArray()).join('')).toBe('that is all');
      other.end('I was still talking');
      await eventually(() => expect(heard).toBe('I was still talking'));
    });

    it('applies back-pressure to the sender when the target does not read', async () => {
      let target: Socket | undefined;
      const address = await listen((socket) => {
        target = socket.pause();
      });
      const stream = await (await connect()).openTcp(address, SOON);
      const chunk = Buffer.alloc(64 * 1024);
      let accepted = 0;
      while (accepted < 200 * 1024 * 1024) {
        accepted += chunk.length;
        if (stream.write(chunk)) continue;
        const drained = await Promise.race([
          once(stream, 'drain').then(() => true),
          new Promise<boolean>((resolve) => setTimeout(resolve, 500, false)),
        ]);
        if (!drained) break;
      }
      // The socket buffers on the way, sshd's window of 2 MB and ours.
      expect(accepted).toBeLessThan(64 * 1024 * 1024);
      let got = 0;
      target?.on('data', (bytes: Buffer) => {
        got += bytes.length;
      });
      target?.on('end', () => target?.end());
      target?.resume();
      stream.end();
      stream.resume();
      await once(stream, 'close');
      expect(got).toBe(accepted);
    });

    it('applies back-pressure to the target when the local side does not read', async () => {
      let pushed = 0;
      const address = await listen((socket) => {
        const fill = (): void => {
          while (socket.write(Buffer.alloc(64 * 1024))) pushed += 64 * 1024;
        };
        socket.on('drain', fill).on('error', () => undefined);
        fill();
      });
      const stream = await (await connect()).openTcp(address, SOON);
      let before = -1;
      while (before !== pushed) {
        before = pushed;
        await new Promise((resolve) => setTimeout(resolve, 300));
      }
      expect(pushed).toBeLessThan(64 * 1024 * 1024);
      stream.destroy();
    });

    it('yields to others after 64 KB', async () => {
      const address = await listen((socket) => socket.end(Buffer.alloc(32 * 1024 * 1024)));
      const stream = await (await connect()).openTcp(address, SOON);
      let [bytes, thisTurn, most] = [0, 0, 0];
      let isCounting = true;
      const nextTurn = (): void => {
        thisTurn = 0;
        if (isCounting) setImmediate(nextTurn);
      };
      nextTurn();
      stream.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        thisTurn += chunk.length;
        most = Math.max(most, thisTurn);
      });
      await once(stream, 'end');
      stream.destroy();
      isCounting = false;
      expect(bytes).toBe(32 * 1024 * 1024);
      // And short reads in between, and the packet that was not whole in the turn before. It was 2 MB without a limit.
      expect(most).toBeLessThanOrEqual(128 * 1024);
    });

    it('sends a message in one piece', async () => {
      let pieces = 0;
      const line = await listen((socket) => {
        const router = createConnection(sshd.port, '127.0.0.1');
        socket.on('data', () => (pieces += 1)).on('error', () => undefined);
        router.on('error', () => undefined);
        socket.pipe(router).pipe(socket);
      });
      const echo = await listen((socket) => socket.pipe(socket));
      const stream = await (await connect({ port: line.port })).openTcp(echo, SOON);
      const before = pieces;
      for (let i = 0; i < 20; i += 1) {
        stream.write('a question');
        await once(stream, 'data');
      }
      expect(pieces - before).toBe(20);
      stream.destroy();
    });

    it('to a closed port is refused as connect failed', async () => {
      const server = createServer();
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const { port } = server.address() as AddressInfo;
      await new Promise((resolve) => server.close(resolve));
      await expect((await connect()).openTcp({ host: '127.0.0.1', port }, SOON)).rejects.toMatchObject({
        code: 'rejected',
        message: expect.stringContaining('connect failed'),
      });
    });

    it('is refused while forwarding is off, and the error names the setting', async () => {
      const closed = await startOpensshServer(['AllowTcpForwarding no']);
      try {
        const { port, privateKey, hostKey } = closed;
        const ssh = await connect({ port, privateKey, hostKey: { fingerprint: hostKey } });
        await expect(ssh.openTcp({ host: '127.0.0.1', port: 1 }, SOON)).rejects.toMatchObject({
          code: 'not_allowed',
          message: expect.stringContaining('forwarding-enabled'),
        });
      } finally {
        await closed.close();
      }
    });

    it('fails instead of ending when the session breaks', async () => {
      const target = await listen((socket) => socket.write('first'));
      const ssh = await connect();
      const stream = await ssh.openTcp(target, SOON);
      await once(stream, 'readable');
      const failed = once(stream, 'error');
      void ssh.close();
      expect((await failed)[0]).toBeInstanceOf(AgentError);
    });

    it('is closed at the router when destroyed here', async () => {
      let closed: Promise<unknown> | undefined;
      const target = await listen((socket) => {
        closed = once(socket.on('error', () => undefined).resume(), 'close');
        socket.on('end', () => socket.end());
      });
      const stream = await (await connect()).openTcp(target, SOON);
      stream.destroy();
      await once(stream, 'close');
      await closed;
    });
  });

  describe('a file', () => {
    it('is read completely', async () => {
      const content = randomBytes(300_000);
      const name = path.join(sshd.folder, 'x.backup');
      await writeFile(name, content);
      const ssh = await connect();
      expect(await ssh.readFile(name, EXEC)).toEqual(content);
      await writeFile(name, '');
      expect(await ssh.readFile(name, EXEC)).toHaveLength(0);
    });

    it('that is missing, too large, or out of reach is an error', async () => {
      const name = path.join(sshd.folder, 'large');
      await writeFile(name, Buffer.alloc(100_000));
      const ssh = await connect();
      await expect(ssh.readFile(`${name}-not`, EXEC)).rejects.toMatchObject({
        code: 'rejected',
        message: expect.stringContaining('no such file'),
      });
      await expect(ssh.readFile(name, { ...SOON, maxBytes: 99_999 })).rejects.toMatchObject({ code: 'not_allowed' });
    });

    it('without the subsystem is refused', async () => {
      const bare = await startOpensshServer(['MaxSessions 0']);
      try {
        const { port, privateKey, hostKey } = bare;
        const ssh = await connect({ port, privateKey, hostKey: { fingerprint: hostKey } });
        await expect(ssh.readFile('x', EXEC)).rejects.toMatchObject({ code: 'rejected', message: expect.stringContaining('policy ftp') });
      } finally {
        await bare.close();
      }
    });
  });

  describe('the host key', () => {
    let folder: string;

    beforeAll(async () => {
      folder = await mkdtemp(path.join(tmpdir(), 'host-keys-'));
    });

    afterAll(() => rm(folder, { recursive: true }));

    it('that differs from the pinned one ends the connection before the login', async () => {
      const hostKey = { fingerprint: `SHA256:${'A'.repeat(43)}` };
      await expect(connect({ hostKey })).rejects.toMatchObject({
        code: 'router_unreachable',
        message: expect.stringContaining(`the host key is ${sshd.hostKey}`),
      });
    });

    it('is pinned on first use, by the fastest of several connections', async () => {
      const hostKey = hostKeyFile(folder, 'a/strange: name');
      await Promise.all([connect({ hostKey }), connect({ hostKey }), connect({ hostKey })]);
      const files = await readdir(path.join(folder, 'host-keys'));
      expect(files).toHaveLength(1);
      const file = path.join(folder, 'host-keys', files[0] ?? '');
      expect((await readFile(file, 'utf8')).trim()).toBe(sshd.hostKey);
      await connect({ hostKey });
      await writeFile(file, `SHA256:${'B'.repeat(43)}\n`);
      await expect(connect({ hostKey })).rejects.toMatchObject({ message: expect.stringContaining('has changed') });
    });

    it('is refused when it cannot be recorded', async () => {
      const notAFolder = path.join(sshd.folder, 'config');
      await expect(connect({ hostKey: hostKeyFile(notAFolder, 'branch') })).rejects.toMatchObject({
        code: 'router_unreachable',
        message: expect.stringContaining('cannot be checked'),
      });
    });
  });

  describe('the session', () => {
    it('with an unknown key is refused', async () => {
      const other = await startOpensshServer();
      const { privateKey } = other;
      await other.close();
      await expect(connect({ privateKey })).rejects.toMatchObject({
        code: 'router_unreachable',
        message: expect.stringContaining('login refused'),
      });
      await expect(connect({ privateKey: 'not a key' })).rejects.toMatchObject({ code: 'router_unreachable' });
    });

    it('reports that it has ended', async () => {
      const ssh = await connect();
      const reason = new Promise((resolve) => ssh.onClose(resolve));
      const pending = ssh.exec('sleep 60', EXEC).catch((error: unknown) => error);
      await ssh.close();
      await ssh.close();
      expect(await pending).toMatchObject({ code: 'outcome_unknown' });
      expect(await reason).toBeTypeOf('string');
      expect(ssh.alive).toBe(false);
      await expect(ssh.exec('true', EXEC)).rejects.toMatchObject({ code: 'router_unreachable' });
    });
  });
});
