import { createHash, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';
import path from 'node:path';
import type { Deadline } from '../../../agent/core/deadline.ts';
import { connectRouterOsApi } from '../../../agent/routers/routeros-api/index.ts';
import { connectSsh, type SshOptions, type SshSession } from '../../../agent/routers/ssh/index.ts';
import { type Simulator, startSimulator } from '../../simulator/index.ts';
import { hasOpensshServer, type OpensshServer, startOpensshServer } from '../openssh-server.ts';

/** One thing that the agent does with a router, from the dial to the end of the session. */
export interface Handshake {
  name: string;
  /** Where the router listens for it. */
  port: number;
  /** Does it by way of `port`. Rejects with an AgentError, by the deadline. */
  run(port: number, deadline: Deadline): Promise<void>;
}

export interface HandshakeRouters {
  handshakes: Handshake[];
  close(): Promise<void>;
}

const USER = { username: 'agent', password: 'secret' };
const HOST = '127.0.0.1';

/** Every handshake, with simulated routers and, where there is one, a real SSH server. @param folder for recorded host keys */
export async function startHandshakeRouters(folder: string): Promise<HandshakeRouters> {
  const users = [{ name: USER.username, password: USER.password }];
  const modern = await startSimulator({ users, apiTlsPort: 0, tls: 'self-signed' });
  const old = await startSimulator({ users, version: '6.42.12' });
  modern.router.files.write('flash/export.rsc', 'x'.repeat(5000));
  const target = await startTarget();
  const sshd = hasOpensshServer ? await startOpensshServer() : undefined;
  await allowForwarding(modern);
  const ssh: SshOptions = {
    host: HOST,
    port: 0,
    ...USER,
    hostKey: { file: path.join(folder, 'simulated.hostkey') },
    deadline: { timeoutMs: 0 },
  };
  return {
    handshakes: [
      ...apiHandshakes(modern, old),
      ...sshHandshakes('simulated SSH', modern.sshPort, ssh, { file: 'flash/export.rsc', line: ':put 1', target: target.port }),
      ...(sshd ? openssHandshakes(sshd, target.port) : []),
    ],
    close: async () => {
      for (const each of [modern, old, target]) await each.close();
      await sshd?.close();
    },
  };
}

function apiHandshakes(modern: Simulator, old: Simulator): Handshake[] {
  const fingerprint = createHash('sha256')
    .update(new X509Certificate(modern.tlsCertificate ?? '').raw)
    .digest('hex');
  const make = (name: string, port: number, tls?: { fingerprint: string }): Handshake => ({
    name,
    port,
    run: async (linePort, deadline) => {
      const api = await connectRouterOsApi({ host: HOST, port: linePort, ...USER, deadline, ...(tls ? { tls } : {}) });
      try {
        await api.command({ path: '/system/identity/print', words: [] }, deadline);
      } finally {
        await api.close();
      }
    },
  });
  return [make('API', modern.apiPort), make('API with a challenge', old.apiPort), make('API over TLS', modern.apiTlsPort, { fingerprint })];
}

interface SshOperations {
  file: string;
  line: string;
  target: number;
}

function openssHandshakes(sshd: OpensshServer, target: number): Handshake[] {
  const { username, privateKey, hostKey } = sshd;
  const options: SshOptions = { host: HOST, port: 0, username, privateKey, hostKey: { fingerprint: hostKey }, deadline: { timeoutMs: 0 } };
  return sshHandshakes('OpenSSH', sshd.port, options, { file: path.join(sshd.folder, 'config'), line: 'echo 1', target });
}

function sshHandshakes(name: string, port: number, options: SshOptions, { file, line, target }: SshOperations): Handshake[] {
  const make = (what: string, operation: (session: SshSession, deadline: Deadline) => Promise<unknown>): Handshake => ({
    name: `${name}: ${what}`,
    port,
    run: async (linePort, deadline) => {
      const session = await connectSsh({ ...options, port: linePort, deadline });
      try {
        await operation(session, deadline);
      } finally {
        await session.close();
      }
    },
  });
  return [
    make('exec', (session, deadline) => session.exec(line, { ...deadline, maxBytes: 10_000 })),
    make('SFTP', (session, deadline) => session.readFile(file, { ...deadline, maxBytes: 100_000 })),
    make('direct-tcpip', (session, deadline) => echo(session, target, deadline)),
  ];
}

async function echo(session: SshSession, port: number, deadline: Deadline): Promise<void> {
  const stream = await session.openTcp({ host: HOST, port }, deadline);
  const ended = new Promise<void>((resolve) => stream.on('error', () => undefined).once('close', () => resolve()));
  const late = setTimeout(() => stream.destroy(), deadline.timeoutMs);
  stream.resume().end('hello');
  await ended;
  clearTimeout(late);
}

async function startTarget(): Promise<{ port: number; close: () => Promise<void> }> {
  const server = net.createServer({ allowHalfOpen: true }, (socket) => socket.on('error', () => undefined).pipe(socket));
  server.listen(0, HOST);
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, close: () => new Promise((resolve) => server.close(() => resolve())) };
}

async function allowForwarding({ apiPort }: Simulator): Promise<void> {
  const deadline = { timeoutMs: 10_000 };
  const api = await connectRouterOsApi({ host: HOST, port: apiPort, ...USER, deadline });
  await api.command({ path: '/ip/ssh/set', words: ['=forwarding-enabled=local'] }, deadline);
  await api.close();
}
