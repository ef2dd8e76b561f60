import type { Log } from '../core/log.ts';

/** A database that is away is asked so often; it is found again at most so much later. */
const PROBE_EVERY_MS = 500;

export interface DatabaseWatchDeps {
  /** Connects and asks anything; rejects while the database is away. */
  probe: () => Promise<void>;
  log: Log;
}

/**
 * Knows whether a database server is away, from the first connection that could not be made until a probe is answered.
 * Meanwhile everybody else is refused at once, instead of each waiting for a connection of its own; and an outage is two lines
 * in the log, however many queries it costs.
 */
export class DatabaseWatch {
  readonly #deps: DatabaseWatchDeps;
  /** By the elapsed clock; undefined while the database is there. */
  #awaySince: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #probing: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(deps: DatabaseWatchDeps) {
    this.#deps = deps;
  }

  get isAway(): boolean {
    return this.#awaySince !== undefined;
  }

  /** A connection could not be made. */
  lost(error: unknown): void {
    if (this.#stopped || this.isAway) return;
    this.#awaySince = performance.now();
    this.#deps.log.warn({ err: error, component: 'storage' }, 'the database cannot be reached; trying again until it answers');
    this.#probeLater();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#probing;
  }

  #probeLater(): void {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => {
      this.#probing = this.#probe();
    }, PROBE_EVERY_MS);
    this.#timer.unref();
  }

  /** Never rejects. */
  async #probe(): Promise<void> {
    try {
      await this.#deps.probe();
    } catch {
      this.#probeLater();
      return;
    }
    const durationMs = Math.round(performance.now() - (this.#awaySince ?? 0));
    this.#awaySince = undefined;
    this.#deps.log.warn({ duration_ms: durationMs, component: 'storage' }, 'the database answers again');
  }
}
