import type net from 'node:net';

export interface HeldOptions {
  /** A connection is to be tried again. */
  release: (socket: net.Socket) => void;
  /** For the person: once for every period of waiting, not for every connection. */
  say: (text: string) => void;
}

/** Fewer than the server takes of one key in a minute, so that all that wait come in at once; none of them is read. */
const MOST = 256;
/** The server counts by the minute: what asks for more is not it. */
const LONGEST_WAIT_MS = 60_000;
/** A program that has waited through two such minutes is told that it is in vain. */
const PATIENCE_MS = 2 * LONGEST_WAIT_MS;

/** Connections of programs that wait until the server takes more of them. */
export class HeldConnections {
  readonly #options: HeldOptions;
  readonly #waiting = new Set<net.Socket>();
  readonly #firstHeldAt = new WeakMap<net.Socket, number>();
  #timer: NodeJS.Timeout | undefined;
  #hasTurnedAway = false;

  constructor(options: HeldOptions) {
    this.#options = options;
  }

  /** Nothing should be tried now. */
  get isHolding(): boolean {
    return this.#timer !== undefined;
  }

  /** The server takes nothing more for so long, milliseconds. */
  holdFor(ms: number): void {
    if (this.#timer !== undefined) return;
    const waitMs = Math.min(ms, LONGEST_WAIT_MS);
    this.#hasTurnedAway = false;
    this.#options.say(`too many new connections in a minute; more of them wait ${Math.ceil(waitMs / 1000)} s, as the server asks\n`);
    this.#timer = setTimeout(() => this.#release(), waitMs);
  }

  /** Keeps a connection of which nothing was read, or breaks it off when there are too many. */
  add(socket: net.Socket): void {
    const now = performance.now();
    const since = this.#firstHeldAt.get(socket) ?? now;
    if (this.#waiting.size >= MOST || now - since >= PATIENCE_MS) {
      this.#turnAway(socket);
      return;
    }
    this.#firstHeldAt.set(socket, since);
    this.#waiting.add(socket);
    socket.once('close', () => this.#waiting.delete(socket));
  }

  /** Breaks off what waits. */
  close(): void {
    clearTimeout(this.#timer);
    for (const socket of this.#waiting) socket.destroy();
  }

  #turnAway(socket: net.Socket): void {
    socket.resetAndDestroy();
    if (!this.#hasTurnedAway) this.#options.say('too many connections wait; more of them are broken off\n');
    this.#hasTurnedAway = true;
  }

  #release(): void {
    this.#timer = undefined;
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const socket of waiting) this.#options.release(socket);
  }
}
