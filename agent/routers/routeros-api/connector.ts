import type { RouterReason } from '../../../protocol/index.ts';
import type { Socket } from 'node:net';
import { cpuBudgets } from '../../core/cpu-budget.ts';
import { describeNetworkError, reasonOfNetworkError } from '../network-errors.ts';
import { encodeWord } from './framing.ts';
import { Connector, type ConnectorOptions, Transmitter } from './library.ts';
import { GuardedReceiver } from './receiver.ts';

/**
 * Unsent bytes for a router that has stopped reading. Above it new commands fail at once; the longest word that a caller can send is
 * far smaller.
 */
const MAX_UNSENT_BYTES = 8 * 1024 * 1024;

export interface GuardedConnectorOptions extends ConnectorOptions {
  /** Verifies the TLS peer before any byte of the login is sent. @returns why it is refused, undefined when it is accepted */
  verifyPeer?: (connector: GuardedConnector) => string | undefined;
}

class GuardedTransmitter extends Transmitter {
  readonly #socket: Socket;

  constructor(socket: Socket) {
    super(socket);
    this.#socket = socket;
  }

  /** Guard: the library prints every word, including passwords, when DEBUG is set. */
  override write(word: string | null): void {
    this.#socket.write(this.encodeString(word));
  }

  /** Guard: UTF-8 instead of windows-1252, which sends unknown characters, also in passwords, as `?`. */
  override encodeString(word: string | null): Buffer {
    return word === null ? Buffer.of(0) : encodeWord(word);
  }
}

/**
 * The library's connector with a reliable end. However the connection ends, {@link end} runs once: it fails every waiting tag, emits
 * `down` with the reason, and destroys the socket.
 */
export class GuardedConnector extends Connector {
  /** Failure callback of each tag in flight. */
  readonly waiting = new Map<string, (reason: string) => void>();
  readonly #verifyPeer: GuardedConnectorOptions['verifyPeer'];
  #downReason: string | undefined;
  #downBy: RouterReason = 'closed';
  #commands = 0;

  constructor(options: GuardedConnectorOptions) {
    super(options);
    this.#verifyPeer = options.verifyPeer;
  }

  /** Why the connection has ended; undefined while it has not. */
  get downReason(): string | undefined {
    return this.#downReason;
  }

  /** Why the connection has ended, in one word; once it has. */
  get downBy(): RouterReason {
    return this.#downBy;
  }

  /** A tag that is unique on this connection. The library's are random and may be empty. */
  nextTag(): string {
    return `s${++this.#commands}`;
  }

  override connect(): this {
    super.connect();
    this.transmitter = new GuardedTransmitter(this.socket);
    const budget = cpuBudgets.budgetOf(`${this.host}:${this.port}`);
    const receiver = new GuardedReceiver(this.socket, budget, {
      fatal: (reason) => {
        this.end(reason === '' ? 'the router ended the session' : `the router ended the session: ${reason}`);
      },
      broken: (reason) => {
        this.end(reason);
      },
    });
    this.receiver = receiver;
    this.socket.once('close', () => {
      receiver.end();
      this.end('the connection was closed');
    });
    return this;
  }

  override onConnect(): void {
    const refusal = this.#verifyPeer?.(this);
    if (refusal !== undefined) {
      this.end(refusal, 'tls');
      return;
    }
    // Guard: with Nagle's algorithm on, a command costs about 44 ms.
    this.socket.setNoDelay(true);
    // Guard: the library's idle timeout would end a quiet session. Deadlines belong to commands.
    this.socket.setTimeout(0);
    super.onConnect();
  }

  /** Guard: one segment per sentence; the library writes every word separately. */
  override write(words: string[]): this {
    this.socket.cork();
    super.write(words);
    this.socket.uncork();
    return this;
  }

  /** Why nothing can be sent now; undefined when it can. */
  unwritableReason(): string | undefined {
    // Guard: after a disconnect the library queues writes for ever.
    if (this.#downReason !== undefined) return this.#downReason;
    if (!this.socket.writable) return 'the session is closing';
    return this.socket.writableLength > MAX_UNSENT_BYTES ? 'the router has stopped reading' : undefined;
  }

  override onEnd(): void {
    this.end('the router closed the connection');
  }

  /** Guard: the library emits an error without text, which ends the process if there is no listener. */
  override onError(error: Error): void {
    this.end(describeNetworkError(error), reasonOfNetworkError(error));
  }

  override onTimeout(): void {
    this.end('the connection timed out', 'timeout');
  }

  override destroy(): void {
    this.end('the session was closed');
  }

  /** Guard: fails every tag in flight, whose promises the library would leave pending. */
  end(reason: string, downBy: RouterReason = 'closed'): void {
    if (this.#downReason !== undefined) return;
    this.#downReason = reason;
    this.#downBy = downBy;
    const waiting = [...this.waiting.values()];
    this.waiting.clear();
    for (const fail of waiting) fail(reason);
    this.emit('down', reason);
    super.destroy();
  }
}
