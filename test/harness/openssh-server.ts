import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, connect } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import path from 'node:path';

/** Debian's sshd on a loopback port of its own, with its own host key and one authorised key. */

const SSHD = '/usr/sbin/sshd';

export const hasOpensshServer = existsSync(SSHD);

export interface OpensshServer {
  port: number;
  username: string;
  /** Private key that may log in. */
  privateKey: string;
  /** Fingerprint of the host key as ssh-keygen prints it. */
  hostKey: string;
  folder: string;
  close(): Promise<void>;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address ? address.port : 0;
}

async function answers(port: number, until: number): Promise<void> {
  while (Date.now() < until) {
    const socket = connect(port, '127.0.0.1');
    const open = await new Promise<boolean>((resolve) => {
      socket
        .once('data', () => resolve(true))
        .once('error', () => resolve(false))
        .once('close', () => resolve(false));
    });
    // sshd would wait two minutes for a login.
    socket.destroy();
    if (open) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error('sshd did not start');
}

export async function startOpensshServer(settings: readonly string[] = []): Promise<OpensshServer> {
  // As root it wants the folder that its service makes, which need not have run here.
  if (userInfo().uid === 0) mkdirSync('/run/sshd', { recursive: true, mode: 0o755 });
  const folder = await mkdtemp(path.join(tmpdir(), 'sshd-'));
  const file = (name: string): string => path.join(folder, name);
  for (const key of ['host', 'user']) {
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', file(key)]);
  }
  const port = await freePort();
  const config = [
    `Port ${port}`,
    'ListenAddress 127.0.0.1',
    `HostKey ${file('host')}`,
    `AuthorizedKeysFile ${file('user.pub')}`,
    `PidFile ${file('pid')}`,
    'PermitRootLogin yes',
    'PasswordAuthentication no',
    'KbdInteractiveAuthentication no',
    'UsePAM no',
    'StrictModes no',
    'Subsystem sftp internal-sftp',
    ...settings,
  ];
  await writeFile(file('config'), `${config.join('\n')}\n`);
  const sshd: ChildProcess = spawn(SSHD, ['-D', '-e', '-f', file('config')], { stdio: 'ignore' });
  await answers(port, Date.now() + 10_000);
  return {
    port,
    username: userInfo().username,
    privateKey: await readFile(file('user'), 'utf8'),
    hostKey: execFileSync('ssh-keygen', ['-lf', file('host.pub')], { encoding: 'utf8' }).split(' ')[1] ?? '',
    folder,
    close: async () => {
      const gone = new Promise((resolve) => sshd.once('exit', resolve));
      sshd.kill();
      await gone;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
