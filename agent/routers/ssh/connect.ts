import { Socket } from 'node:net';
import { type Algorithms, type AuthenticationType, Client, type ConnectConfig } from 'ssh2';
import type { RouterReason } from '../../../protocol/index.ts';
import { pooledReads, type Release } from '../../../runtime/pooled-reads.ts';
import { type Deadline, onExpiry, remaining, settleBy, toError } from '../../core/deadline.ts';
import { AgentError } from '../../core/errors.ts';
import { cpuBudgets } from '../../core/cpu-budget.ts';
import { describeNetworkError } from '../network-errors.ts';
import { reasonOfSshError } from './errors.ts';
import { checkHostKey, type HostKeyPolicy } from './host-key.ts';
import { guardProtocol } from './library-guards.ts';
import { SshConnection, type SshSession } from './session.ts';

export interface SshOptions {
  host: string;
  port: number;
  username: string;
  password?: string | undefined;
  /** PEM or OpenSSH format, without a passphrase. */
  privateKey?: string | undefined;
  hostKey: HostKeyPolicy;
  /** For the connection and the login together. */
  deadline: Deadline;
}

/** Keeps NAT entries alive; a dead peer is detected after three unanswered keepalives. */
const KEEPALIVE_INTERVAL_MS = 15_000;
const KEEPALIVES_MISSED = 3;

/**
 * One read per turn, because decrypting takes twice as long as passing bytes on: with two reads the p99 of commands beside a
 * saturated forward is over 50 % higher, without more throughput. Short reads are not short messages here: during an upload the
 * router answers with window updates.
 */
const READS = { fullReadsPerTurn: 1, signalsShortMessages: false };

/** Adds algorithms of very old v6 to ssh2's own list; at the end, so that no other router uses them. */
const ALGORITHMS = {
  kex: { append: ['diffie-hellman-group14-sha1', 'diffie-hellman-group-exchange-sha1'] },
  cipher: { append: ['aes128-cbc', 'aes256-cbc'] },
  // RouterOS has no compression, and data that expands a thousandfold would bypass the limits.
  compress: ['none'],
  // The declaration wants all three of append, prepend and remove; the library takes any of them.
} as unknown as Algorithms;

/**
 * Connects, checks the host key and logs in.
 * @throws AgentError `router_unreachable`; always settles by the deadline
 */
export async function connectSsh(options: SshOptions): Promise<SshSession> {
  const startedAt = performance.now();
  const socket = await connectTcp(options, options.deadline);
  const client = new Client();
  const connection = new SshConnection(client, socket, (deadline) => greets(options, deadline));
  try {
    await loggedIn(client, connection, socket, options, remaining(options.deadline, startedAt));
    giveBuffersBack(socket);
    return connection;
  } catch (error) {
    connection.end(toError(error).message);
    throw error;
  }
}

function unreachable({ host, port }: { host: string; port: number }, message: string, reason: RouterReason, cause?: unknown): AgentError {
  return new AgentError('router_unreachable', `${host}:${port}: ${message}`, { reason, cause });
}

async function connectTcp(target: { host: string; port: number }, deadline: Deadline): Promise<Socket> {
  const reads = pooledReads(READS);
  // Documented for existing connections, but it also works for those that are dialled.
  const socket = new Socket({ onread: reads.onread });
  reads.attach(socket);
  // Keeps the greeting until there is a listener.
  socket.pause();
  const connected = new Promise<void>((resolve, reject) => {
    socket.once('error', (error) => {
      reject(unreachable(target, describeNetworkError(error), reasonOfSshError(error), error));
    });
    socket.setNoDelay(true);
    socket.connect(target.port, target.host, () => {
      resolve();
    });
  });
  try {
    await settleBy(connected, deadline, (reason) => unreachable(target, reason, 'timeout'));
    return socket;
  } catch (error) {
    // Errors after the deadline still have the listener above.
    socket.destroy();
    throw error;
  }
}

/** Longer than what ssh2 may still need of the previous read: the rest of a packet's MAC. */
const WHOLE_MAC_BYTES = 64;

/**
 * ssh2 decrypts into new memory, so a read buffer can be reused, but only after the next read: ssh2 may still need a packet in it
 * whose MAC is incomplete.
 */
function giveBuffersBack(socket: Socket): void {
  let before: Release | undefined;
  socket.on('data', (chunk: Buffer, release?: Release) => {
    if (chunk.length >= WHOLE_MAC_BYTES) before?.();
    before = release;
  });
}

/** Whether an SSH server sends its greeting. Never rejects. */
async function greets(target: { host: string; port: number }, deadline: Deadline): Promise<boolean> {
  const startedAt = performance.now();
  const socket = await connectTcp(target, deadline).catch(() => undefined);
  if (!socket) return false;
  return new Promise((resolve) => {
    const settle = (greeted: boolean): void => {
      endWait();
      socket.destroy();
      resolve(greeted);
    };
    const endWait = onExpiry(remaining(deadline, startedAt), () => settle(false));
    socket
      .once('data', () => settle(true))
      .once('close', () => settle(false))
      .resume();
  });
}

function loggedIn(client: Client, connection: SshConnection, socket: Socket, options: SshOptions, deadline: Deadline): Promise<void> {
  const ready = new Promise<void>((resolve, reject) => {
    client.once('ready', () => {
      resolve();
    });
    connection.onClose((reason) => {
      reject(unreachable(options, reason, connection.endedBy));
    });
    client.on('keyboard-interactive', (_name, _instructions, _language, prompts, finish) => {
      finish(prompts.map(() => options.password ?? ''));
    });
    try {
      client.connect(clientConfig(socket, connection, options));
      guardProtocol(client, {
        socket,
        budget: cpuBudgets.budgetOf(`${options.host}:${options.port}`),
        end: (reason) => connection.end(reason),
      });
    } catch (error) {
      // ssh2 throws for a private key that it cannot read.
      reject(unreachable(options, toError(error).message, 'credentials', error));
    }
  });
  return settleBy(ready, deadline, (reason) => unreachable(options, reason, 'timeout'));
}

function clientConfig(socket: Socket, connection: SshConnection, options: SshOptions): ConnectConfig {
  const { username, password, privateKey } = options;
  // The key first: RouterOS refuses passwords of users with a key.
  const ways: AuthenticationType[] = [];
  if (privateKey !== undefined) ways.push('publickey');
  if (password !== undefined) ways.push('password', 'keyboard-interactive');
  return {
    sock: socket,
    username,
    ...(password === undefined ? {} : { password, tryKeyboard: true }),
    ...(privateKey === undefined ? {} : { privateKey }),
    authHandler: ways,
    algorithms: ALGORITHMS,
    // None of ssh2's own: `loggedIn` ends at the deadline, and two timers for one deadline would race for the reason.
    readyTimeout: 0,
    keepaliveInterval: KEEPALIVE_INTERVAL_MS,
    keepaliveCountMax: KEEPALIVES_MISSED,
    hostVerifier: (key: Buffer, verify: (valid: boolean) => void): void => {
      void verifyHostKey(key, connection, options.hostKey, verify);
    },
  };
}

/** Never rejects, even if the connection ended while the key was read. */
async function verifyHostKey(
  key: Buffer,
  connection: SshConnection,
  policy: HostKeyPolicy,
  verify: (valid: boolean) => void,
): Promise<void> {
  const refusal = await checkHostKey(key, policy).catch((error: unknown) => `the host key cannot be checked: ${toError(error).message}`);
  // Ended first, because ssh2's own message does not name the cause.
  if (refusal !== undefined) connection.end(refusal, 'host_key');
  // ssh2 discards its protocol when the connection ends; calling `verify` after that throws.
  if (!connection.alive) return;
  try {
    verify(true);
  } catch (error) {
    // ssh2 catches errors only while it handles received bytes.
    connection.end(`the key exchange failed: ${toError(error).message}`);
  }
}
