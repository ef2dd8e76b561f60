import { once } from 'node:events';
import net from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AgentError } from '../../../agent/core/errors.ts';
import { reasonOfNetworkError } from '../../../agent/routers/network-errors.ts';
import { openApi, openSsh } from '../../../agent/routers/open-sessions.ts';
import type { RouterAccess } from '../../../agent/routers/open-sessions.ts';
import { startSimulator } from '../../simulator/index.ts';
import type { Simulator } from '../../simulator/index.ts';

const LOGIN = { username: 'admin', password: 'right' };
const PLENTY = { timeoutMs: 10_000 };
const OTHER_FINGERPRINT = 'ab'.repeat(32);

let simulator: Simulator;
let servers: net.Server[];

beforeAll(async () => {
  servers = [];
  simulator = await startSimulator({
    apiPort: 0,
    apiTlsPort: 0,
    sshPort: 0,
    tls: 'self-signed',
    users: [{ name: 'admin', password: 'right' }],
  });
});
afterAll(async () => {
  for (const server of servers) server.close();
  await simulator.close();
});

/** Something that listens, and treats every connection so. */
async function listener(treat: (socket: net.Socket) => void): Promise<number> {
  const server = net.createServer((socket) => {
    socket.on('error', () => undefined);
    treat(socket);
  });
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

async function closedPort(): Promise<number> {
  const port = await listener(() => undefined);
  const server = servers.pop()!;
  server.close();
  await once(server, 'close');
  return port;
}

const api = (port: number, change: Partial<NonNullable<RouterAccess['api']>> = {}, deadline = PLENTY) =>
  openApi({ name: 'r', host: '127.0.0.1', api: { port, tls: false, anonymous_tls: false, ...LOGIN, ...change } }, deadline);
const ssh = (port: number, change: Partial<NonNullable<RouterAccess['ssh']>> = {}, deadline = PLENTY) =>
  openSsh({ name: 'r', host: '127.0.0.1', ssh: { port, ...LOGIN, host_key: simulator.sshFingerprint, ...change } }, '/nowhere', deadline);

/** The word for a session that cannot be had. */
async function wordOf(opening: Promise<{ close(): Promise<void> }>): Promise<string> {
  const error = await opening.then(
    async (session) => {
      await session.close();
      throw new Error('a session was opened');
    },
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(AgentError);
  return (error as AgentError).reason;
}

describe('why a router does not answer, in one word', () => {
  test('refused', async () => {
    const port = await closedPort();
    expect(await wordOf(api(port))).toBe('refused');
    expect(await wordOf(ssh(port))).toBe('ssh_refused');
  });

  test('timeout: something accepts the connection and says nothing', async () => {
    const port = await listener(() => undefined);
    expect(await wordOf(api(port, {}, { timeoutMs: 200 }))).toBe('timeout');
    expect(await wordOf(ssh(port, {}, { timeoutMs: 200 }))).toBe('timeout');
  });

  test('closed: something accepts the connection and ends it', async () => {
    const port = await listener((socket) => socket.destroy());
    expect(await wordOf(api(port))).toBe('closed');
    expect(await wordOf(ssh(port))).toBe('closed');
  });

  test('login_refused', async () => {
    expect(await wordOf(api(simulator.apiPort, { password: 'wrong' }))).toBe('login_refused');
    expect(await wordOf(ssh(simulator.sshPort, { password: 'wrong' }))).toBe('login_refused');
  });

  test('tls: another certificate, no known authority, or no TLS at all', async () => {
    expect(await wordOf(api(simulator.apiTlsPort, { tls: true, fingerprint: OTHER_FINGERPRINT }))).toBe('tls');
    expect(await wordOf(api(simulator.apiTlsPort, { tls: true }))).toBe('tls');
    const plain = await listener((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    expect(await wordOf(api(plain, { tls: true }))).toBe('tls');
  });

  test('host_key', async () => {
    expect(await wordOf(ssh(simulator.sshPort, { host_key: 'SHA256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' }))).toBe('host_key');
  });

  test('credentials: a file that is not there, or is no key', async () => {
    expect(await wordOf(api(simulator.apiPort, { password: undefined, password_file: '/nowhere/password' }))).toBe('credentials');
    expect(await wordOf(ssh(simulator.sshPort, { private_key_file: '/nowhere/key' }))).toBe('credentials');
  });

  test.each([
    ['EHOSTUNREACH', 'no_route'],
    ['ENETUNREACH', 'no_route'],
    ['ENOTFOUND', 'name_unknown'],
    ['EAI_AGAIN', 'name_unknown'],
    ['ETIMEDOUT', 'timeout'],
    ['ECONNRESET', 'closed'],
    ['CERT_HAS_EXPIRED', 'tls'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'tls'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'tls'],
    ['EMFILE', 'unknown'],
  ])('%s is %s', (code, word) => {
    const error = Object.assign(new Error('it failed'), { code });
    expect(reasonOfNetworkError(error)).toBe(word);
    expect(reasonOfNetworkError(new AggregateError([new Error('nothing known'), error]))).toBe(word);
  });
});
