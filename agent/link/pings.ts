import type { LinkSocket } from './types.ts';

/** Pings over one tunnel that somebody waits for. Whoever owns the tunnel calls {@link onPong} and, at its end, {@link end}. */
export class Pings {
  readonly #socket: LinkSocket;
  /** By the mark of the ping. */
  readonly #waiting = new Map<string, (alive: boolean) => void>();
  #last = 0;

  constructor(socket: LinkSocket) {
    this.#socket = socket;
  }

  /** Resolves true when it is answered, false when the tunnel ends first. */
  send(): Promise<boolean> {
    this.#last += 1;
    // A mark of its own: the answer to an earlier ping, late on the line, proves nothing.
    const mark = `ping ${this.#last}`;
    return new Promise((resolve) => {
      this.#waiting.set(mark, resolve);
      this.#socket.ping(mark);
    });
  }

  onPong(mark: string): void {
    this.#waiting.get(mark)?.(true);
    this.#waiting.delete(mark);
  }

  end(): void {
    for (const resolve of this.#waiting.values()) resolve(false);
    this.#waiting.clear();
  }
}
