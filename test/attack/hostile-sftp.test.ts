import { afterEach, expect, test } from 'vitest';
import type { Connection, SFTPWrapper } from 'ssh2';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { connectSsh } from '../../agent/routers/ssh/index.ts';
import type { SshSession } from '../../agent/routers/ssh/index.ts';
import { startHostileSshServer } from '../harness/hostile-ssh-server.ts';
import { UnexpectedErrors } from '../harness/unexpected-errors.ts';

/** A router whose SFTP server lies, and one that changes its keys without end. */

const SOON = { timeoutMs: 25_000 };
const CONTENT = Buffer.from('0123456789abcdef'.repeat(4000));
const closers: (() => Promise<unknown>)[] = [];
const errors = new UnexpectedErrors();

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
  expect(errors.take()).toEqual([]);
});

type Serve = (sftp: SFTPWrapper) => void;

/** Answers as a good server does, unless `change` registers something else first. */
function honest(sftp: SFTPWrapper): void {
  sftp.on('OPEN', (id) => sftp.handle(id, Buffer.of(1)));
  sftp.on('FSTAT', (id) => sftp.attrs(id, { size: CONTENT.length } as never));
  sftp.on('CLOSE', (id) => sftp.status(id, 0));
}

const reading = (sftp: SFTPWrapper): void =>
  void sftp.on('READ', (id, _handle, offset, length) => {
    const part = CONTENT.subarray(offset, offset + length);
    if (part.length === 0) sftp.status(id, 1);
    else sftp.data(id, part);
  });

async function logIn(serve: Serve, alsoServe: (connection: Connection) => void = () => undefined): Promise<SshSession> {
  const server = await startHostileSshServer((connection) => {
    alsoServe(connection);
    connection.on('session', (accept) => {
      const session = accept();
      session.on('sftp', (acceptSftp) => serve(acceptSftp()));
      session.on('exec', (acceptExec) => {
        const channel = acceptExec();
        channel.write('alive\n');
        channel.exit(0);
        channel.end();
      });
    });
  });
  closers.push(() => server.close());
  const folder = await mkdtemp(path.join(os.tmpdir(), 'hostile-sftp-'));
  closers.push(() => rm(folder, { recursive: true }));
  const hostKey = { file: path.join(folder, 'router.hostkey') };
  const session = await connectSsh({
    host: '127.0.0.1',
    port: server.port,
    username: 'agent',
    password: 'secret',
    hostKey,
    deadline: SOON,
  });
  closers.push(() => session.close());
  return session;
}

const isAlive = async (session: SshSession): Promise<boolean> =>
  (await session.exec('x', { ...SOON, maxBytes: 1000 })).text.includes('alive');

test.each<[string, string, Serve]>([
  [
    'a file without an end',
    'not_allowed',
    (sftp) => (honest(sftp), sftp.on('READ', (id, _handle, _offset, length) => sftp.data(id, Buffer.alloc(length, 'x')))),
  ],
  [
    'answers of 100 kB to each question for 32 kB',
    'rejected',
    (sftp) => {
      honest(sftp);
      sftp.on('READ', (id, _handle, offset) => (offset >= CONTENT.length ? sftp.status(id, 1) : sftp.data(id, Buffer.alloc(100_000, 'y'))));
    },
  ],
  [
    'a size of 2^60',
    'rejected',
    (sftp) => {
      sftp.on('OPEN', (id) => sftp.handle(id, Buffer.of(1)));
      sftp.on('FSTAT', (id) => sftp.attrs(id, { size: 2 ** 60 } as never));
      sftp.on('CLOSE', (id) => sftp.status(id, 0));
      reading(sftp);
    },
  ],
  ['a refusal of 200 kB', 'rejected', (sftp) => sftp.on('OPEN', (id) => sftp.status(id, 4, 'x'.repeat(200_000)))],
  [
    'an answer to a question that nobody asked',
    'rejected',
    (sftp) => sftp.on('OPEN', (id) => (sftp.status(id + 1, 4, 'not asked'), sftp.status(id, 2))),
  ],
])('%s: refused as %s, and the session goes on', async (_what, code, serve) => {
  const session = await logIn(serve);
  const error = await session
    .readFile('signalbox-x.backup', { ...SOON, maxBytes: 200_000 })
    .catch((cause: unknown) => cause as Error & { code: string });
  expect(error).toMatchObject({ code });
  expect((error as Error).message.length).toBeLessThanOrEqual(4096);
  expect(await isAlive(session)).toBe(true);
});

test('a file arrives whole although the router changes its keys repeatedly during the transfer', async () => {
  let isOver = false;
  let times = 0;
  const session = await logIn(
    (sftp) => (honest(sftp), reading(sftp)),
    (connection) => {
      const again = (): void => {
        if (isOver) return;
        times += 1;
        (connection as unknown as { rekey(done: () => void): void }).rekey(() => setImmediate(again));
      };
      again();
      connection.on('close', () => (isOver = true));
    },
  );
  const content = await session.readFile('signalbox-x.backup', { ...SOON, maxBytes: 200_000 });
  expect(Buffer.from(content).equals(CONTENT)).toBe(true);
  expect(await isAlive(session)).toBe(true);
  expect(times).toBeGreaterThan(1);
  isOver = true;
});
