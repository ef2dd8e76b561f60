import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, readdir } from 'node:fs/promises';
import net from 'node:net';
import { hasOpensshServer, startOpensshServer } from '../../test/harness/openssh-server.ts';
import type { OpensshServer } from '../../test/harness/openssh-server.ts';
import type { SshdOptions } from './parts/agent.ts';
import type { Path } from './path.ts';
import type { Metered, Usage } from './processes.ts';
import type { Targets } from './targets.ts';

/** Linux counts processor time in hundredths of a second (USER_HZ). */
const TICKS_PER_SECOND = 100;
const START_TIMEOUT_MS = 10_000;
const SETTINGS = ['AllowTcpForwarding yes', 'MaxSessions 10'];

export interface SshTunnel extends Path {
  close(): Promise<void>;
}

/** A router's sshd as the agent uses it, and `ssh -L` through it as the reference. */
export interface RouterSshd {
  login: SshdOptions;
  daemon: Metered;
  tunnel: Path;
  close(): Promise<void>;
}

/**
 * The reference: `ssh -R` from the router's side to a machine with sshd, one TCP connection for all.
 * @param through another port that leads to sshd's: over a line
 * @returns undefined where sshd is not installed
 */
export async function startSshTunnel(
  targets: Targets,
  name: string,
  through?: (port: number) => Promise<number>,
): Promise<SshTunnel | undefined> {
  if (!hasOpensshServer) return undefined;
  const server = await startOpensshServer(SETTINGS);
  return openTunnel(server, targets, { name, flag: '-R', port: through ? await through(server.port) : server.port });
}

/** @returns undefined where sshd is not installed */
export async function startRouterSshd(targets: Targets): Promise<RouterSshd | undefined> {
  if (!hasOpensshServer) return undefined;
  const server = await startOpensshServer(SETTINGS);
  const tunnel = await openTunnel(server, targets, { name: 'ssh -L', flag: '-L', port: server.port });
  const login = { port: server.port, username: server.username, private_key_file: `${server.folder}/user` };
  return { login, daemon: await daemonOf(server), tunnel, close: () => tunnel.close() };
}

/** Owns the server and closes it with the tunnel, or at once when the tunnel fails. */
async function openTunnel(
  server: OpensshServer,
  targets: Targets,
  { name, flag, port }: { name: string; flag: '-L' | '-R'; port: number },
): Promise<SshTunnel> {
  const [sink, source, echo] = await Promise.all([freePort(), freePort(), freePort()]);
  const forwards = [
    [sink, targets.sink],
    [source, targets.source],
    [echo, targets.echo],
  ].flatMap(([at, to]) => [flag, `127.0.0.1:${at}:127.0.0.1:${to}`]);
  const options = [
    'StrictHostKeyChecking=no',
    'UserKnownHostsFile=/dev/null',
    'ExitOnForwardFailure=yes',
    'LogLevel=ERROR',
    'IdentitiesOnly=yes',
  ];
  const client = spawn(
    'ssh',
    [
      '-N',
      ...options.flatMap((option) => ['-o', option]),
      '-i',
      `${server.folder}/user`,
      '-p',
      `${port}`,
      ...forwards,
      `${server.username}@127.0.0.1`,
    ],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  );
  const close = async (): Promise<void> => {
    const gone = client.exitCode === null && client.signalCode === null ? once(client, 'exit') : undefined;
    client.kill();
    await gone;
    await server.close();
  };
  try {
    await Promise.all([sink, source, echo].map(untilOpen));
  } catch (error) {
    await close();
    throw error;
  }
  return { name, sink, source, echo, hops: [{ usage: () => usageOfTree(client.pid!) }, await daemonOf(server)], close };
}

async function daemonOf({ folder }: OpensshServer): Promise<Metered> {
  const pid = Number(await readFile(`${folder}/pid`, 'utf8'));
  return { usage: () => usageOfTree(pid) };
}

async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as net.AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

async function untilOpen(port: number): Promise<void> {
  const giveUpAt = performance.now() + START_TIMEOUT_MS;
  while (performance.now() < giveUpAt) {
    const socket = net.connect(port, '127.0.0.1');
    const open = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (open) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error('ssh did not open its ports');
}

/** A process and its descendants: sshd works in children. */
async function usageOfTree(root: number): Promise<Usage> {
  const processes = (await Promise.all((await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(readStat))).filter(
    (stat) => stat !== undefined,
  );
  const counted = new Set([root]);
  let ticks = 0;
  // A child has a greater id than its parent; ids do not wrap around within a benchmark.
  for (const { pid, parent, cpuTicks } of processes.toSorted((a, b) => a.pid - b.pid)) {
    if (pid !== root && !counted.has(parent)) continue;
    counted.add(pid);
    ticks += cpuTicks;
  }
  return { cpuSeconds: ticks / TICKS_PER_SECOND, residentBytes: 0 };
}

/** proc(5): fields 4, 14 and 15. Undefined when the process has ended meanwhile. */
async function readStat(pid: string): Promise<{ pid: number; parent: number; cpuTicks: number } | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  const fields = text.slice(text.lastIndexOf(') ') + 2).split(' ');
  return { pid: Number(pid), parent: Number(fields[1]), cpuTicks: Number(fields[11]) + Number(fields[12]) };
}
