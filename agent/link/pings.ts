import type { LinkSocket } from './types.ts';

/** Pings over one tunnel and their answers. The owner of the tunnel calls {@link onPong} and, at its end, {@link end}. */
export class Pings {
  readonly #socket: LinkSocket;
  /** By the mark of the ping. */
  readonly #waiting = new Map<string, (alive: boolean) => void>();
  #last = 0;

  constructor(socket: LinkSocket) {
    this.#socket = socket;
  }

  /** Resolves to true when the ping is answered, to false when the tunnel ends first. */
  send(): Promise<boolean> {
    this.#last += 1;
    // A unique mark, because a late answer to an earlier ping proves nothing.
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
