import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import net from 'node:net';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { waitUntil } from '../wait-until.ts';

/**
 * Debian's Postfix as a process of this test: its own configuration, queue, log and mailboxes below a temporary folder, on a loopback
 * port. It knows nothing of a Postfix that the machine may run, and sends nothing anywhere: the only transport is a maildir.
 */

const run = promisify(execFile);
const POSTFIX = '/usr/sbin/postfix';
const PROGRAMS = '/usr/lib/postfix/sbin';
const START_DEADLINE_MS = 20_000;

/** Its master process changes users, which only root may. */
export const hasPostfix = existsSync(POSTFIX) && process.getuid?.() === 0;

export interface Postfix {
  port: number;
  /** Delivered mails of a mailbox in the order of their arrival, as text. */
  mailsOf(mailbox: string): Promise<string[]>;
  log(): Promise<string>;
  /** Ends it; its queue, mailboxes and port stay for {@link start}. */
  stop(): Promise<void>;
  start(): Promise<void>;
  close(): Promise<void>;
}

export interface PostfixOptions {
  /** Local parts below example.com that have a mailbox; everybody else is refused with 550. */
  mailboxes: readonly string[];
  /** Lines of main.cf. */
  settings?: readonly string[];
}

export async function startPostfix({ mailboxes, settings = [] }: PostfixOptions): Promise<Postfix> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-postfix-'));
  // Its daemons are other users, and must find the way.
  await chmod(folder, 0o755);
  const uid = Number((await run('id', ['-u', 'postfix'])).stdout);
  const gid = Number((await run('id', ['-g', 'postfix'])).stdout);
  const at = (name: string): string => path.join(folder, name);
  for (const name of ['conf', 'queue', 'data', 'mail']) await mkdir(at(name));
  await chown(at('data'), uid, gid);
  await chown(at('mail'), uid, gid);
  const port = await freePort();
  await writeFile(at('conf/mailboxes'), mailboxes.map((name) => `${name}@example.com ${name}/\n`).join(''));
  await writeFile(at('conf/main.cf'), `${mainSettings(folder, uid, gid, settings).join('\n')}\n`);
  await writeFile(at('conf/master.cf'), `${services(port).join('\n')}\n`);
  const log = async (): Promise<string> => (existsSync(at('log')) ? readFile(at('log'), 'utf8') : '');
  let stop = await startMaster(at('conf'), port, log);
  return {
    port,
    log,
    mailsOf: async (mailbox) => {
      const box = at(`mail/${mailbox}/new`);
      const names = existsSync(box) ? (await readdir(box)).sort(byArrival) : [];
      return Promise.all(names.map((name) => readFile(path.join(box, name), 'utf8')));
    },
    stop: () => stop(),
    start: async () => {
      stop = await startMaster(at('conf'), port, log);
    },
    close: async () => {
      await stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** @returns what ends it */
async function startMaster(conf: string, port: number, log: () => Promise<string>): Promise<() => Promise<void>> {
  const master = spawn(POSTFIX, ['-c', conf, 'start-fg'], { stdio: 'ignore' });
  const exited = new Promise((resolve) => master.once('exit', resolve));
  await waitUntil(
    'Postfix answers',
    async () => {
      if (master.exitCode !== null) throw new Error(`Postfix ended: ${await log()}`);
      return answers(port);
    },
    START_DEADLINE_MS,
  );
  return async () => {
    if (master.exitCode === null) await run(POSTFIX, ['-c', conf, 'stop']).catch(() => master.kill());
    await exited;
  };
}

function mainSettings(folder: string, uid: number, gid: number, settings: readonly string[]): string[] {
  const at = (name: string): string => path.join(folder, name);
  return [
    'compatibility_level = 3.6',
    `queue_directory = ${at('queue')}`,
    `data_directory = ${at('data')}`,
    'command_directory = /usr/sbin',
    `daemon_directory = ${PROGRAMS}`,
    `maillog_file = ${at('log')}`,
    `maillog_file_prefixes = ${folder}`,
    'mail_owner = postfix',
    'setgid_group = postdrop',
    'inet_interfaces = 127.0.0.1',
    'inet_protocols = ipv4',
    'myhostname = mail.example.com',
    'mydestination =',
    'alias_maps =',
    'local_transport = error:no local mail',
    'default_transport = error:nothing leaves this machine',
    'relay_transport = error:nothing leaves this machine',
    'virtual_mailbox_domains = example.com',
    `virtual_mailbox_base = ${at('mail')}`,
    `virtual_mailbox_maps = texthash:${at('conf/mailboxes')}`,
    `virtual_uid_maps = static:${uid}`,
    `virtual_gid_maps = static:${gid}`,
    `virtual_minimum_uid = ${Math.min(uid, 100)}`,
    'virtual_transport = virtual',
    'smtpd_relay_restrictions = reject_unauth_destination',
    'smtpd_peername_lookup = no',
    ...settings,
  ];
}

/** master.cf: type, private, unprivileged, chroot, wakeup, limit, program. Nothing runs in a chroot. */
function services(port: number): string[] {
  const own = (name: string, program = name, wakeup = '-', limit = '-'): string => `${name} unix - - n ${wakeup} ${limit} ${program}`;
  const open = (name: string, wakeup: string, limit: string): string => `${name} unix n - n ${wakeup} ${limit} ${name}`;
  return [
    `127.0.0.1:${port} inet n - n - - smtpd`,
    open('cleanup', '-', '0'),
    open('qmgr', '300', '1'),
    own('tlsmgr', 'tlsmgr', '1000?', '1'),
    own('rewrite', 'trivial-rewrite'),
    own('bounce', 'bounce', '-', '0'),
    own('defer', 'bounce', '-', '0'),
    own('trace', 'bounce', '-', '0'),
    own('verify', 'verify', '-', '1'),
    'flush unix n - n 1000? 0 flush',
    own('proxymap'),
    own('error'),
    own('retry', 'error'),
    own('discard'),
    'virtual unix - n n - - virtual',
    own('anvil', 'anvil', '-', '1'),
    own('scache', 'scache', '-', '1'),
    'postlog unix-dgram n - n - 1 postlogd',
  ];
}

/** Maildir names begin with the second, then the microsecond: `1700000000.V1I2M345678.host`. */
function byArrival(a: string, b: string): number {
  return arrival(a) - arrival(b);
}

function arrival(name: string): number {
  const [seconds = '0', unique = ''] = name.split('.');
  return Number(seconds) + Number(/M(\d+)/.exec(unique)?.[1] ?? 0) / 1e6;
}

async function answers(port: number): Promise<boolean> {
  const socket = net.connect(port, '127.0.0.1');
  const isOpen = await new Promise<boolean>((resolve) => {
    socket
      .once('data', () => resolve(true))
      .once('error', () => resolve(false))
      .once('close', () => resolve(false));
  });
  socket.end('QUIT\r\n');
  return isOpen;
}

export async function freePort(): Promise<number> {
  const server = net.createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
