import type { Log } from '../core/log.ts';

/** How often an unavailable database is probed; its return is detected at most this much later. */
const PROBE_EVERY_MS = 500;

export interface DatabaseWatchDeps {
  /** Connects and runs a query; rejects while the database is unavailable. */
  probe: () => Promise<void>;
  log: Log;
}

/**
 * Tracks whether the database server is unavailable, from the first failed connection until a probe succeeds. Meanwhile other
 * queries fail at once, instead of each waiting for a connection, and an outage causes two log lines, however many queries
 * fail.
 */
export class DatabaseWatch {
  readonly #deps: DatabaseWatchDeps;
  /** Monotonic time; undefined while the database is available. */
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

  /** A connection attempt failed. */
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
