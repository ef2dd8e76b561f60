import type net from 'node:net';

export interface HeldOptions {
  /** Tries the connection again. */
  release: (socket: net.Socket) => void;
  /** Prints a message for the user: once per waiting period, not per connection. */
  print: (text: string) => void;
}

/** Fewer than the server accepts of one key in a minute, so that one minute clears them all. None of them is read. */
const MAX_HELD = 256;
/** The server's window is one minute; a longer Retry-After does not come from it. */
const LONGEST_WAIT_MS = 60_000;
/** A connection that has waited through two such windows is closed. */
const LONGEST_HOLD_MS = 2 * LONGEST_WAIT_MS;

/** Local connections that wait until the server accepts more of them. */
export class HeldConnections {
  readonly #options: HeldOptions;
  readonly #waiting = new Set<net.Socket>();
  readonly #firstHeldAt = new WeakMap<net.Socket, number>();
  #timer: NodeJS.Timeout | undefined;
  #hasReportedRefusal = false;

  constructor(options: HeldOptions) {
    this.#options = options;
  }

  /** True while new connections must wait. */
  get isHolding(): boolean {
    return this.#timer !== undefined;
  }

  /** Holds connections for this time, milliseconds. */
  holdFor(ms: number): void {
    if (this.#timer !== undefined) return;
    const waitMs = Math.min(ms, LONGEST_WAIT_MS);
    this.#hasReportedRefusal = false;
    this.#options.print(`too many new connections per minute; the server asks to wait ${Math.ceil(waitMs / 1000)} s\n`);
    this.#timer = setTimeout(() => this.#release(), waitMs);
  }

  /** Keeps an unread connection, or resets it when too many wait or it has waited too long. */
  add(socket: net.Socket): void {
    const now = performance.now();
    const since = this.#firstHeldAt.get(socket) ?? now;
    if (this.#waiting.size >= MAX_HELD || now - since >= LONGEST_HOLD_MS) {
      this.#refuse(socket);
      return;
    }
    this.#firstHeldAt.set(socket, since);
    this.#waiting.add(socket);
    socket.once('close', () => this.#waiting.delete(socket));
  }

  /** Closes the waiting connections. */
  close(): void {
    clearTimeout(this.#timer);
    for (const socket of this.#waiting) socket.destroy();
  }

  #refuse(socket: net.Socket): void {
    socket.resetAndDestroy();
    if (!this.#hasReportedRefusal) this.#options.print('too many connections are waiting; further ones are reset\n');
    this.#hasReportedRefusal = true;
  }

  #release(): void {
    this.#timer = undefined;
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const socket of waiting) this.#options.release(socket);
  }
}
