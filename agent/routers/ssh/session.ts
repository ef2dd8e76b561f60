import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Client, SFTPWrapper } from 'ssh2';
import type { RouterReason } from '../../../protocol/index.ts';
import { systemClock } from '../../core/clock.ts';
import { type Deadline, onExpiry, toError, tooLate } from '../../core/deadline.ts';
import { AgentError } from '../../core/errors.ts';
import type { RouterShell, WindowSize } from '../adapter.ts';
import { channelFailure, describeSshError, forwardFailure, reasonOfSshError } from './errors.ts';
import { collectOutput } from './exec-output.ts';
import type { ExecOutput } from './exec-output.ts';
import { ignoreStreamErrors } from './library-guards.ts';
import { SilenceTest } from './silence-test.ts';
import { readWholeFile } from './sftp.ts';
import { ShellChannel } from './shell-channel.ts';
import { TcpChannel } from './tcp-channel.ts';

/** A logged-in SSH connection. Any number of channels may be open. */
export interface SshSession {
  readonly alive: boolean;
  /**
   * Runs one line. @throws AgentError `invalid` (more than one line), `rejected`, `router_unreachable` (not sent),
   * `outcome_unknown`
   */
  exec(line: string, options: Deadline & { maxBytes: number }): Promise<ExecOutput>;
  /** @throws AgentError `not_allowed` (forwarding is off), `rejected` (connect failed), `outcome_unknown` (deadline) */
  openTcp(target: { host: string; port: number }, deadline: Deadline): Promise<Duplex>;
  /** @throws AgentError `rejected`, `not_allowed` (too large), `outcome_unknown` */
  readFile(name: string, options: Deadline & { maxBytes: number }): Promise<Buffer>;
  /** Opens a shell with a terminal. @throws AgentError `rejected` (the router offers none), `outcome_unknown` (deadline) */
  openShell(size: WindowSize, deadline: Deadline): Promise<RouterShell>;
  onClose(listener: (reason: string) => void): () => void;
  /** Settles within a second even if the peer does not answer. */
  close(): Promise<void>;
}

/** Wait for a peer that does not answer our FIN, in milliseconds. */
const CLOSE_GRACE_MS = 1000;

/** What the shell is told that it draws on: consoles in browsers and terminals of today understand it. */
const TERMINAL_TYPE = 'xterm-256color';

/** One request in flight, settled once: by an answer, the deadline or the end of the connection. */
interface Ask<T> {
  readonly settled: boolean;
  readonly succeed: (value: T) => void;
  readonly fail: (error: AgentError) => void;
  /** Calls `stop` when the request is cancelled; at once if it already is. */
  readonly onGivenUp: (stop: () => void) => void;
}

export class SshConnection implements SshSession {
  readonly #client: Client;
  readonly #socket: Socket;
  readonly #ending = new Set<(reason: string) => void>();
  readonly #silenceTest: SilenceTest;
  #isGathering = false;
  #reason: string | undefined;
  #endedBy: RouterReason = 'closed';

  /**
   * Takes over both, and listens from now on so that no error is ever without a listener.
   * @param greetsAfresh whether the router's SSH server greets a new connection; never rejects
   */
  constructor(client: Client, socket: Socket, greetsAfresh: (deadline: Deadline) => Promise<boolean>) {
    this.#client = client;
    this.#socket = socket;
    const forgotten = (): void => this.end('the router has forgotten the connection');
    this.#silenceTest = new SilenceTest(
      { bytesReceived: () => socket.bytesRead, ping: () => ping(client), greetsAfresh, forgotten },
      systemClock,
    );
    client.on('error', (error) => {
      this.end(describeSshError(error), reasonOfSshError(error));
    });
    // ssh2 discards its protocol here, before the socket is closed: it must not be used from now on.
    client.on('end', () => {
      this.end('the router closed the connection');
    });
    // Emitted before ssh2 ends the open channels normally, so they fail first.
    client.on('close', () => {
      this.end('the router closed the connection');
    });
  }

  get alive(): boolean {
    return this.#reason === undefined;
  }

  /** Why it has ended, in one word; once it has. */
  get endedBy(): RouterReason {
    return this.#endedBy;
  }

  /** Ends everything at once; the first reason counts. */
  end(reason: string, endedBy: RouterReason = 'closed'): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    this.#endedBy = endedBy;
    this.#silenceTest.stop();
    const ending = [...this.#ending];
    this.#ending.clear();
    for (const ended of ending) ended(reason);
    this.#socket.destroy();
  }

  onClose(listener: (reason: string) => void): () => void {
    if (this.#reason !== undefined) listener(this.#reason);
    else this.#ending.add(listener);
    return () => this.#ending.delete(listener);
  }

  exec(line: string, { maxBytes, ...deadline }: Deadline & { maxBytes: number }): Promise<ExecOutput> {
    return this.#ask(deadline, (ask) => {
      if (/[\r\n\0]/.test(line)) {
        ask.fail(new AgentError('invalid', 'SSH exec takes exactly one line'));
        return;
      }
      this.#client.exec(line, (error, channel) => {
        if (error) {
          ask.fail(channelFailure(error));
          return;
        }
        ask.onGivenUp(() => {
          channel.close();
        });
        ignoreStreamErrors(channel);
        collectOutput(channel, maxBytes, ask.succeed);
      });
    });
  }

  async openTcp({ host, port }: { host: string; port: number }, deadline: Deadline): Promise<Duplex> {
    const settled = this.#silenceTest.expectAnswer();
    try {
      const stream = await this.#ask<TcpChannel>(deadline, (ask) => {
        this.#client.forwardOut('127.0.0.1', 0, host, port, (error, channel) => {
          if (error) ask.fail(forwardFailure(error));
          else if (ask.settled) channel.close();
          else ask.succeed(this.#adopt(new TcpChannel(channel, this.#gather)));
        });
      });
      // Data that arrived with the confirmation may have broken it before there was a listener.
      if (stream.destroyed) throw brokenAtOnce(stream.errored);
      return stream;
    } finally {
      settled();
    }
  }

  readFile(name: string, { maxBytes, ...deadline }: Deadline & { maxBytes: number }): Promise<Buffer> {
    return this.#ask(deadline, (ask) => {
      this.#client.sftp((error, sftp) => {
        if (error) {
          ask.fail(new AgentError('rejected', `SFTP was refused (does the user have the policy ftp?): ${error.message}`, { cause: error }));
          return;
        }
        ask.onGivenUp(() => {
          sftp.end();
        });
        void this.#readAndClose(sftp, name, maxBytes, ask);
      });
    });
  }

  openShell({ cols, rows }: WindowSize, deadline: Deadline): Promise<RouterShell> {
    return this.#ask<ShellChannel>(deadline, (ask) => {
      this.#client.shell({ term: TERMINAL_TYPE, cols, rows }, (error, channel) => {
        if (error) ask.fail(channelFailure(error));
        else if (ask.settled) channel.close();
        else ask.succeed(this.#adopt(new ShellChannel(channel, this.#gather)));
      });
    });
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      if (!this.alive) {
        resolve();
        return;
      }
      const endGrace = onExpiry({ timeoutMs: CLOSE_GRACE_MS }, () => {
        this.end('the session was closed');
      });
      this.onClose(() => {
        endGrace();
        resolve();
      });
      this.#client.end();
    });
  }

  async #readAndClose(sftp: SFTPWrapper, name: string, maxBytes: number, ask: Ask<Buffer>): Promise<void> {
    // An error of the subsystem also fails the waiting request.
    sftp.on('error', () => undefined);
    try {
      ask.succeed(await readWholeFile(sftp, name, maxBytes));
    } catch (error) {
      ask.fail(error instanceof AgentError ? error : new AgentError('internal', toError(error).message, { cause: error }));
    } finally {
      sftp.end();
    }
  }

  /** Sends all packets of a turn at its end: ssh2 writes each in three pieces, which would be a system call and a segment each. */
  readonly #gather = (): void => {
    if (this.#isGathering) return;
    this.#isGathering = true;
    this.#socket.cork();
    setImmediate(() => {
      this.#isGathering = false;
      this.#socket.uncork();
    });
  };

  /** The end of the connection is an error for its streams, not an end of their data. */
  #adopt<T extends TcpChannel>(stream: T): T {
    const unsubscribe = this.onClose((reason) => {
      stream.destroy(new AgentError('outcome_unknown', reason));
    });
    stream.once('close', unsubscribe);
    // Until it is returned there is no other listener.
    stream.on('error', () => undefined);
    return stream;
  }

  #ask<T>(deadline: Deadline, start: (ask: Ask<T>) => void): Promise<T> {
    return new Promise((resolve, reject) => {
      const refusal = tooLate(deadline) ?? this.#reason;
      if (refusal !== undefined) {
        reject(new AgentError('router_unreachable', refusal));
        return;
      }
      let settled = false;
      let stop: (() => void) | undefined;
      const settle = (): boolean => {
        const first = !settled;
        settled = true;
        endDeadline();
        unsubscribe();
        return first;
      };
      const giveUp = (reason: string): void => {
        if (!settle()) return;
        reject(new AgentError('outcome_unknown', reason));
        stop?.();
      };
      const endDeadline = onExpiry(deadline, giveUp);
      const unsubscribe = this.onClose(giveUp);
      try {
        start({
          get settled() {
            return settled;
          },
          succeed: (value) => {
            if (settle()) resolve(value);
          },
          fail: (error) => {
            if (settle()) reject(error);
          },
          onGivenUp: (handler) => {
            stop = handler;
            if (settled) handler();
          },
        });
      } catch (error) {
        // ssh2 throws when the socket is not writable: nothing was sent.
        if (settle()) reject(new AgentError('router_unreachable', toError(error).message, { cause: error }));
      }
    });
  }
}

/** Private parts of a client that its keepalive uses; there is no public method to send one. */
interface Pinging {
  _protocol: { ping(): void };
  /** Called in the order of the requests, one per answer. */
  _callbacks: (() => void)[];
}

/** Sends a keepalive as ssh2 does. Never throws. */
function ping(client: Client): void {
  const { _protocol: protocol, _callbacks: callbacks } = client as unknown as Pinging;
  try {
    protocol.ping();
    callbacks.push(() => undefined);
  } catch {
    // The session is about to report its end.
  }
}

function brokenAtOnce(error: Error | null): AgentError {
  if (error instanceof AgentError) return error;
  return new AgentError('rejected', `the connection broke as soon as it was open: ${error?.message ?? 'no reason given'}`, {
    cause: error,
  });
}
