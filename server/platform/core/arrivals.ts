import type { Server } from 'node:http';

/** After this many consecutive event-loop turns that accept a connection, more are waiting. Ordinary traffic has a few in a row. */
export const RUSH_TURNS = 64;

export interface ArrivalsListener {
  /** Turns in a row that are a rush, instead of {@link RUSH_TURNS}. */
  turns?: number;
  /**
   * Connections wait to be accepted, and another `step` has been accepted since the last call.
   * @param accepted all connections since the rush was noticed
   */
  onStep(accepted: number): void;
  /** A turn has passed without a new connection. */
  onOver(): void;
}

/**
 * Detects that connections wait to be accepted. Node accepts one in each turn of the event loop. When each turn also does the work of
 * sixty requests, thousands of callers wait in the kernel for half a minute, where they cannot be refused.
 */
export class Arrivals {
  readonly #listener: ArrivalsListener;
  readonly #step: number;
  readonly #turns: number;
  #inRow = 0;
  #isWatching = false;

  /** @param step connections after which the listener is called */
  constructor(step: number, listener: ArrivalsListener) {
    this.#step = step;
    this.#turns = listener.turns ?? RUSH_TURNS;
    this.#listener = listener;
  }

  get isRush(): boolean {
    return this.#inRow >= this.#turns;
  }

  watch(server: Server): void {
    server.on('connection', () => this.#accepted());
  }

  #accepted(): void {
    this.#inRow += 1;
    const accepted = this.#inRow - this.#turns;
    if (accepted > 0 && accepted % this.#step === 0) this.#listener.onStep(accepted);
    if (this.#isWatching) return;
    this.#isWatching = true;
    // The first one still belongs to this turn.
    setImmediate(() => this.#checkAfterTurn());
  }

  #checkAfterTurn(): void {
    const before = this.#inRow;
    setImmediate(() => {
      if (this.#inRow > before) {
        this.#checkAfterTurn();
        return;
      }
      const wasRush = this.isRush;
      this.#isWatching = false;
      this.#inRow = 0;
      if (wasRush) this.#listener.onOver();
    });
  }
}
