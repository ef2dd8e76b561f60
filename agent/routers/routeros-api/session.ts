import type { RouterReason } from '../../../protocol/index.ts';
import { type Deadline, onExpiry, remaining, settleBy, toError } from '../../core/deadline.ts';
import { AgentError } from '../../core/errors.ts';
import type { ApiCommand, CommandReply, RouterRow } from '../adapter.ts';
import { GuardedChannel, type ReplyLimits } from './channel.ts';
import { GuardedConnector } from './connector.ts';
import { type Credentials, login } from './login.ts';
import { type TlsTrust, tlsOptions, verifyPin } from './tls.ts';

/** Ports of `/ip/service` api and api-ssl. */
const API_PORT = 8728;
const API_TLS_PORT = 8729;

/** Default limits. A full print of a large lease table has 50,000 rows and 15 MB, and the control plane accepts 16 MB. */
const DEFAULT_LIMITS: ReplyLimits = { maxRows: 200_000, maxBytes: 32 * 1024 * 1024 };

/** Limits of the answer to a login, which has one or two sentences. */
const LOGIN_LIMITS: ReplyLimits = { maxRows: 10, maxBytes: 64 * 1024 };

/** Wait for a peer that does not answer our FIN, in milliseconds. */
const CLOSE_GRACE_MS = 1000;

export interface RouterOsApiOptions extends Credentials {
  host: string;
  /** Default: 8728, with `tls` 8729. */
  port?: number | undefined;
  tls?: TlsTrust | undefined;
  /** For the connection and the login together. */
  deadline: Deadline;
}

export interface CommandOptions extends Deadline {
  limits?: Partial<ReplyLimits> | undefined;
  /** Called for each row as it arrives; the reply then has no rows, and limits do not apply. */
  onRow?: ((row: RouterRow) => void) | undefined;
}

/** A logged-in session with one router. Any number of commands may be in flight. */
export interface RouterOsApi {
  /** False once the connection has ended. */
  readonly alive: boolean;
  /**
   * @throws AgentError `rejected` (the router's own message and category), `outcome_unknown` (deadline, abort or
   * end of the connection after sending), `router_unreachable` (not sent), `not_allowed` (limit), `invalid` (words)
   */
  command(command: ApiCommand, options: CommandOptions): Promise<CommandReply>;
  /** Runs a never-ending command until `signal` aborts, which resolves. @throws AgentError like {@link command} */
  listen(command: ApiCommand, onRow: (row: RouterRow) => void, signal: AbortSignal): Promise<void>;
  /** Calls the listener once with the reason when the session ends, at once if it has ended. @returns a function that unsubscribes */
  onClose(listener: (reason: string) => void): () => void;
  /** Ends the session; settles within a second even if the peer does not answer. */
  close(): Promise<void>;
}

/** The sentence of a command. @throws AgentError `invalid` for words that would end the sentence */
export function toSentence({ path, words }: ApiCommand): string[] {
  if (!/^\/[^\s=?]+$/.test(path)) throw new AgentError('invalid', `not a command path: ${JSON.stringify(path)}`);
  for (const word of words) {
    // An empty word would end the sentence, and the next words would be another command.
    if (!/^[=?.]/.test(word)) throw new AgentError('invalid', `not an API word: ${JSON.stringify(word)}`);
    if (word.startsWith('.tag=')) throw new AgentError('invalid', '.tag belongs to the session');
  }
  // Guard: an array of our own, because the library appends `.tag=…` to the one it is given.
  // `.proplist` and `.id` are attributes for RouterOS; people write them without `=`.
  return [path, ...words.map((word) => (word.startsWith('.') ? `=${word}` : word))];
}

/**
 * Connects and logs in.
 * @throws AgentError `router_unreachable`; always settles by the deadline
 */
export async function connectRouterOsApi(options: RouterOsApiOptions): Promise<RouterOsApi> {
  const startedAt = performance.now();
  const connector = createConnector(options);
  try {
    await opened(connector, options.deadline);
    const ask = (words: string[], deadline: Deadline): Promise<CommandReply> =>
      new GuardedChannel(connector, { deadline, limits: LOGIN_LIMITS }).start(words);
    await login(ask, options, remaining(options.deadline, startedAt), () =>
      connector.downReason === undefined ? 'timeout' : connector.downBy,
    );
    return new Session(connector);
  } catch (error) {
    connector.end(toError(error).message);
    throw error;
  }
}

function createConnector({ host, port, tls, deadline }: RouterOsApiOptions): GuardedConnector {
  const pin = tls?.anonymous ? undefined : tls?.fingerprint;
  return new GuardedConnector({
    host,
    // Guard: the library keeps 8728 with TLS switched on.
    port: port ?? (tls ? API_TLS_PORT : API_PORT),
    timeout: Math.min(Math.max(deadline.timeoutMs / 1000, 0.001), 3600),
    ...(tls ? { tls: tlsOptions(tls) } : {}),
    ...(pin === undefined ? {} : { verifyPeer: ({ socket }: GuardedConnector) => verifyPin(socket, pin) }),
  });
}

function opened(connector: GuardedConnector, deadline: Deadline): Promise<void> {
  const unreachable = (message: string, reason: RouterReason): AgentError =>
    new AgentError('router_unreachable', `${connector.host}:${connector.port}: ${message}`, { reason });
  const connected = new Promise<void>((resolve, reject) => {
    connector.once('connected', () => {
      resolve();
    });
    connector.once('down', (reason: string) => {
      reject(unreachable(reason, connector.downBy));
    });
    try {
      connector.connect();
    } catch (error) {
      // Node refuses an unreadable CA or an impossible port by throwing.
      reject(unreachable(toError(error).message, 'tls'));
    }
  });
  return settleBy(connected, deadline, (reason) => unreachable(reason, 'timeout'));
}

class Session implements RouterOsApi {
  readonly #connector: GuardedConnector;

  constructor(connector: GuardedConnector) {
    this.#connector = connector;
  }

  get alive(): boolean {
    return this.#connector.downReason === undefined;
  }

  async command(command: ApiCommand, { limits, onRow, ...deadline }: CommandOptions): Promise<CommandReply> {
    const channel = new GuardedChannel(this.#connector, { deadline, limits: { ...DEFAULT_LIMITS, ...limits }, onRow });
    return channel.start(toSentence(command));
  }

  async listen(command: ApiCommand, onRow: (row: RouterRow) => void, signal: AbortSignal): Promise<void> {
    try {
      await this.command(command, { timeoutMs: Infinity, signal, onRow });
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  onClose(listener: (reason: string) => void): () => void {
    const connector = this.#connector;
    if (connector.downReason !== undefined) {
      listener(connector.downReason);
      return () => undefined;
    }
    connector.once('down', listener);
    return () => connector.off('down', listener);
  }

  close(): Promise<void> {
    const connector = this.#connector;
    return new Promise((resolve) => {
      if (connector.downReason !== undefined) {
        resolve();
        return;
      }
      // Guard: the library's close waits for a FIN that may never come.
      const endGrace = onExpiry({ timeoutMs: CLOSE_GRACE_MS }, () => {
        connector.end('the session was closed');
      });
      connector.once('down', () => {
        endGrace();
        resolve();
      });
      connector.close();
    });
  }
}
