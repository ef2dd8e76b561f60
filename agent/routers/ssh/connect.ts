import { Socket } from 'node:net';
import { type Algorithms, type AuthenticationType, Client, type ConnectConfig } from 'ssh2';
import { pooledReads, type Release } from '../../../runtime/pooled-reads.ts';
import { type Deadline, onExpiry, remaining, settleBy, toError } from '../../core/deadline.ts';
import { AgentError } from '../../core/errors.ts';
import { cpuBudgets } from '../../core/cpu-budget.ts';
import { describeNetworkError } from '../network-errors.ts';
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

/** Idle NAT entries are kept alive, and a dead peer is noticed after three of them. */
const KEEPALIVE_INTERVAL_MS = 15_000;
const KEEPALIVES_MISSED = 3;

/**
 * What is read has to be decrypted as well, which takes twice as long as to pass it on: with two reads in a turn the p99 of
 * commands beside a saturated forward is more than half as high again, and no more bytes pass. While bytes go up the router
 * answers with windows, which are short but no messages.
 */
const READS = { fullReadsPerTurn: 1, signalsShortMessages: false };

/** Beside ssh2's own list what very old v6 offers alone; last, so that nobody else ends up with it. */
const ALGORITHMS = {
  kex: { append: ['diffie-hellman-group14-sha1', 'diffie-hellman-group-exchange-sha1'] },
  cipher: { append: ['aes128-cbc', 'aes256-cbc'] },
  // RouterOS has no compression, and what unpacks to a thousand times its size would pass every limit.
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

function unreachable({ host, port }: { host: string; port: number }, reason: string, cause?: unknown): AgentError {
  return new AgentError('router_unreachable', `${host}:${port}: ${reason}`, { cause });
}

async function connectTcp(target: { host: string; port: number }, deadline: Deadline): Promise<Socket> {
  const reads = pooledReads(READS);
  // Declared for connections that are there already, it works for those that are dialled as well.
  const socket = new Socket({ onread: reads.onread });
  reads.attach(socket);
  // The greeting waits until somebody listens.
  socket.pause();
  const connected = new Promise<void>((resolve, reject) => {
    socket.once('error', (error) => {
      reject(unreachable(target, describeNetworkError(error), error));
    });
    socket.setNoDelay(true);
    socket.connect(target.port, target.host, () => {
      resolve();
    });
  });
  try {
    await settleBy(connected, deadline, (reason) => unreachable(target, reason));
    return socket;
  } catch (error) {
    // An error that comes after the deadline has a listener still: the one above.
    socket.destroy();
    throw error;
  }
}

/** Longer than what ssh2 may still want of the read before: the rest of a packet's MAC. */
const WHOLE_MAC_BYTES = 64;

/**
 * ssh2 decrypts into new memory, so a buffer can be read into again, but only after the next read: a packet whose MAC had not
 * come yet may still be looked at in it.
 */
function giveBuffersBack(socket: Socket): void {
  let before: Release | undefined;
  socket.on('data', (chunk: Buffer, release?: Release) => {
    if (chunk.length >= WHOLE_MAC_BYTES) before?.();
    before = release;
  });
}

/** Does an SSH server say hello there? Never rejects. */
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
      reject(unreachable(options, reason));
    });
    client.on('keyboard-interactive', (_name, _instructions, _language, prompts, finish) => {
      finish(prompts.map(() => options.password ?? ''));
    });
    try {
      client.connect(clientConfig(socket, connection, options, deadline));
      guardProtocol(client, {
        socket,
        budget: cpuBudgets.budgetOf(`${options.host}:${options.port}`),
        end: (reason) => connection.end(reason),
      });
    } catch (error) {
      // ssh2 throws for a private key that it cannot read.
      reject(unreachable(options, toError(error).message, error));
    }
  });
  return settleBy(ready, deadline, (reason) => unreachable(options, reason));
}

function clientConfig(socket: Socket, connection: SshConnection, options: SshOptions, deadline: Deadline): ConnectConfig {
  const { username, password, privateKey } = options;
  // The key first: RouterOS refuses passwords to users who have one.
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
    readyTimeout: Math.ceil(deadline.timeoutMs),
    keepaliveInterval: KEEPALIVE_INTERVAL_MS,
    keepaliveCountMax: KEEPALIVES_MISSED,
    hostVerifier: (key: Buffer, verify: (valid: boolean) => void): void => {
      void verifyHostKey(key, connection, options.hostKey, verify);
    },
  };
}

/** Never rejects, whatever has become of the connection while the key was looked up. */
async function verifyHostKey(
  key: Buffer,
  connection: SshConnection,
  policy: HostKeyPolicy,
  verify: (valid: boolean) => void,
): Promise<void> {
  const refusal = await checkHostKey(key, policy).catch((error: unknown) => `the host key cannot be checked: ${toError(error).message}`);
  // Ended first, because ssh2's own words for it do not say what is wrong.
  if (refusal !== undefined) connection.end(refusal);
  // ssh2 takes its protocol apart when the connection ends, and a verdict given after that is an exception.
  if (!connection.alive) return;
  try {
    verify(true);
  } catch (error) {
    // Nobody else would catch it: ssh2 does so only for what it does when bytes arrive.
    connection.end(`the key exchange failed: ${toError(error).message}`);
  }
}
