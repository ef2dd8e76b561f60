import type { App } from './app.ts';

/** Counts requests that have not been answered, so that a shutdown can let them finish. */
export class InFlight {
  #count = 0;
  #waiting: (() => void)[] = [];

  constructor(app: App) {
    app.addHook('onRequest', async (_request, reply) => {
      this.#count += 1;
      // Not onResponse: a client that disconnects also ends the request.
      reply.raw.once('close', () => this.#ended());
    });
  }

  get count(): number {
    return this.#count;
  }

  /** Resolves when no request is in progress. */
  drained(): Promise<void> {
    if (this.#count === 0) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #ended(): void {
    this.#count -= 1;
    if (this.#count > 0) return;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
