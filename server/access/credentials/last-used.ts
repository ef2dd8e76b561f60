import type { Clock, Timer } from '../../platform/core/clock.ts';
import type { Log } from '../../platform/core/log.ts';
import type { WriteQueue } from '../../platform/storage/db.ts';
import { updateLastUsed } from './store.ts';

/** A crash loses at most this much of "last used". Writing it at every request would cost more than the request. */
const FLUSH_EVERY_MS = 5000;

/** When API keys were last used: kept in memory, written in batches. Bounded by the number of valid keys. */
export class LastUsed {
  readonly #deps: { writes: WriteQueue; clock: Clock; log: Log };
  #uses = new Map<string, number>();
  #timer: Timer | undefined;
  #flushing: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(deps: { writes: WriteQueue; clock: Clock; log: Log }) {
    this.#deps = deps;
  }

  record(keyId: string): void {
    const { clock } = this.#deps;
    this.#uses.set(keyId, clock.now());
    if (this.#timer !== undefined || this.#stopped) return;
    this.#timer = clock.setTimeout(() => {
      this.#timer = undefined;
      this.#flushing = this.#flush();
    }, FLUSH_EVERY_MS);
  }

  /** Writes the times still in memory. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.cancel();
    await this.#flushing;
    await this.#flush();
  }

  /** Never rejects: a time that could not be written is dropped, because the next use brings a newer one. */
  async #flush(): Promise<void> {
    const uses = [...this.#uses];
    this.#uses = new Map();
    if (uses.length === 0) return;
    try {
      await this.#deps.writes.write((tx) => updateLastUsed(tx, uses));
    } catch (error) {
      this.#deps.log.warn({ err: error, component: 'auth', count: uses.length }, 'could not write when keys were last used');
    }
  }
}
