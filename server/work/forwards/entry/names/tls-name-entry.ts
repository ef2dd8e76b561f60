import type net from 'node:net';
import type { Clock, Timer } from '../../../../platform/core/clock.ts';
import type { Log } from '../../../../platform/core/log.ts';
import { networkOf } from '../../../../platform/core/network-of.ts';
import { EntryPort, resetSocket } from '../entry-port.ts';
import type { Source } from '../entry-port.ts';
import { parseClientHello } from './client-hello.ts';
import type { PendingConnections } from './pending-connections.ts';

/** A forward as this entry uses it. */
export interface NamedForward {
  /** Accepts a client like one of the forward's own port. @returns false when its source is not allowed; the refusal is counted */
  acceptFrom(socket: net.Socket, source: Source): boolean;
}

export interface TlsNameEntryOptions {
  host: string;
  port: number;
  /** Forwards are `<id>.<domain>`; in lower case. */
  domain: string;
  isProxy?: ((address: string) => boolean) | undefined;
  pending: PendingConnections;
  /** May wait for another control plane, which is the forward's home. */
  find: (forwardId: string, address: string) => NamedForward | undefined | Promise<NamedForward | undefined>;
  clock: Clock;
  log: Log;
  /** Connections that match no forward are logged at most this often, milliseconds. */
  logEveryMs: number;
}

/** TLS alert, fatal: unrecognized_name. The same for an unknown name and for one that the client is not allowed to use. */
const UNRECOGNISED_NAME = Buffer.from([21, 3, 3, 0, 2, 2, 112]);

/**
 * One port for all forwards: the server name `<id>.<domain>` of a TLS client (SNI) selects the forward. The bytes pass
 * unchanged, so the client's TLS session is with the target itself.
 */
export class TlsNameEntry {
  readonly #options: TlsNameEntryOptions;
  #port: EntryPort | undefined;
  /** Connections that matched no forward since the last log line. */
  #unrouted = 0;
  #logTimer: Timer | undefined;

  private constructor(options: TlsNameEntryOptions) {
    this.#options = options;
  }

  /** @throws the system's error when another program holds the port */
  static async open(options: TlsNameEntryOptions): Promise<TlsNameEntry> {
    const entry = new TlsNameEntry(options);
    entry.#port = await EntryPort.listen({
      ...options,
      onClient: (socket, source) => entry.#readName(socket, source),
      onUnknownSource: (address, reason) => entry.#countUnrouted(address, reason),
    });
    return entry;
  }

  get port(): number {
    return this.#port!.port;
  }

  close(): void {
    this.#port?.close();
    this.#logTimer?.cancel();
  }

  #readName(socket: net.Socket, source: Source): void {
    this.#options.pending.read(networkOf(source.address), socket, parseClientHello, (outcome) => {
      if (!outcome.ok) {
        resetSocket(socket);
        this.#countUnrouted(source.address, outcome.reason);
        return;
      }
      const { serverName } = outcome.value;
      const found = this.#find(serverName, source);
      const enter = (forward: NamedForward | undefined): void => this.#enter(forward, socket, source, serverName);
      if (found instanceof Promise) void found.then(enter);
      else enter(found);
    });
  }

  #enter(forward: NamedForward | undefined, socket: net.Socket, source: Source, serverName: string | undefined): void {
    // It may have gone while the home of the forward was asked.
    if (socket.destroyed) return;
    if (!forward)
      this.#countUnrouted(source.address, serverName === undefined ? 'the client sent no server name' : 'no forward has this name');
    if (!forward?.acceptFrom(socket, source)) sendUnrecognisedName(socket);
  }

  #find(serverName = '', { address }: Source): ReturnType<TlsNameEntryOptions['find']> {
    const dot = serverName.indexOf('.');
    return serverName.slice(dot + 1) === this.#options.domain ? this.#options.find(serverName.slice(0, dot), address) : undefined;
  }

  /** Sampled, because internet scanners connect several times a minute. */
  #countUnrouted(source: string, reason: string): void {
    this.#unrouted += 1;
    this.#logTimer ??= this.#options.clock.setTimeout(() => {
      this.#options.log.info({ source, reason, count: this.#unrouted }, 'connections to the TLS name entry matched no forward');
      this.#unrouted = 0;
      this.#logTimer = undefined;
    }, this.#options.logEveryMs);
  }
}

function sendUnrecognisedName(socket: net.Socket): void {
  socket.end(UNRECOGNISED_NAME);
  socket.destroySoon();
}
