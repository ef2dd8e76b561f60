import type net from 'node:net';
import type { Clock, Timer } from '../../../../platform/core/clock.ts';
import type { Log } from '../../../../platform/core/log.ts';
import { networkOf } from '../../../../platform/core/network-of.ts';
import { EntryPort, breakOff } from '../entry-port.ts';
import type { Source } from '../entry-port.ts';
import { parseClientHello } from './client-hello.ts';
import type { WaitingRoom } from './waiting-room.ts';

/** A forward as this door needs it. */
export interface NamedForward {
  /** Whether a client from there may come in; a no is counted on the record. */
  admits(address: string): boolean;
  /** Carries the connection as one of the forward's own port. */
  enter(socket: net.Socket, source: Source): void;
}

export interface NameDoorOptions {
  host: string;
  port: number;
  /** Forwards are `<id>.<domain>`; in lower case. */
  domain: string;
  isProxy?: ((address: string) => boolean) | undefined;
  room: WaitingRoom;
  find: (forwardId: string) => NamedForward | undefined;
  clock: Clock;
  log: Log;
  /** Connections for nobody are logged this often at most, milliseconds. */
  logEveryMs: number;
}

/** TLS, fatal: unrecognized_name. The same for a name nobody has and for one the client may not use. */
const UNRECOGNISED_NAME = Buffer.from([21, 3, 3, 0, 2, 2, 112]);

/**
 * One port for all forwards: a TLS client that asks for `<id>.<domain>` is let through to that forward, its bytes
 * untouched, so that what it speaks to is the target itself.
 */
export class NameDoor {
  readonly #options: NameDoorOptions;
  #entry: EntryPort | undefined;
  /** Connections that led to no forward since the last line of the log. */
  #lost = 0;
  #logTimer: Timer | undefined;

  private constructor(options: NameDoorOptions) {
    this.#options = options;
  }

  /** @throws the system's error when another program holds the port */
  static async open(options: NameDoorOptions): Promise<NameDoor> {
    const door = new NameDoor(options);
    door.#entry = await EntryPort.listen({
      ...options,
      onArrival: (socket, source) => door.#ask(socket, source),
      onNameless: (address, reason) => door.#noteLost(address, reason),
    });
    return door;
  }

  get port(): number {
    return this.#entry!.port;
  }

  close(): void {
    this.#entry?.close();
    this.#logTimer?.cancel();
  }

  #ask(socket: net.Socket, source: Source): void {
    this.#options.room.read(networkOf(source.address), socket, parseClientHello, (told) => {
      if (!told.ok) {
        breakOff(socket);
        this.#noteLost(source.address, told.reason);
        return;
      }
      const { serverName } = told.value;
      const forward = this.#find(serverName);
      if (!forward)
        this.#noteLost(source.address, serverName === undefined ? 'a client that asks for no name' : 'a name that no forward has');
      if (forward?.admits(source.address)) forward.enter(socket, source);
      else sayUnrecognised(socket);
    });
  }

  #find(serverName = ''): NamedForward | undefined {
    const dot = serverName.indexOf('.');
    return serverName.slice(dot + 1) === this.#options.domain ? this.#options.find(serverName.slice(0, dot)) : undefined;
  }

  /** Whoever scans the internet comes by several times a minute. */
  #noteLost(source: string, reason: string): void {
    this.#lost += 1;
    this.#logTimer ??= this.#options.clock.setTimeout(() => {
      this.#options.log.info({ source, reason, count: this.#lost }, 'connections to the door by name led to no forward');
      this.#lost = 0;
      this.#logTimer = undefined;
    }, this.#options.logEveryMs);
  }
}

function sayUnrecognised(socket: net.Socket): void {
  socket.end(UNRECOGNISED_NAME);
  socket.destroySoon();
}
