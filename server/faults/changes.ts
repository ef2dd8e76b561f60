import type { Clock } from '../core/clock.ts';
import type { Log } from '../core/log.ts';
import type { Storage } from '../storage/db.ts';
import { applyChange } from './store.ts';
import type { RouterChange } from './store.ts';
import type { FaultChange, FaultEvent } from './types.ts';

/** Changes that wait for the database: everything of 10,000 routers at once. */
const MAX_WAITING = 20_000;
/** Changes of one transaction: about 20 ms on SQLite. */
const CHUNK = 100;

interface ChangesDeps {
  storage: Storage;
  clock: Clock;
  log: Log;
  onFault?: (event: FaultEvent) => void;
}

/**
 * Carries what was noticed into the database, in order, without letting whoever noticed it wait. What cannot be
 * stored stays in the queue for the next {@link store}.
 */
export class Changes {
  readonly #deps: ChangesDeps;
  #waiting: RouterChange[] = [];
  #storing: Promise<void> | undefined;

  constructor(deps: ChangesDeps) {
    this.#deps = deps;
  }

  add({ teamId, routerId }: { teamId: string; routerId: string }, changes: readonly FaultChange[]): void {
    if (changes.length === 0) return;
    if (this.#waiting.length + changes.length > MAX_WAITING) {
      this.#deps.log.error({ router_id: routerId, count: changes.length }, 'too many faults wait for the database; these are lost');
      return;
    }
    for (const change of changes) this.#waiting.push({ teamId, routerId, change });
    this.store();
  }

  /** Starts storing what waits, unless that is under way. */
  store(): void {
    if (this.#waiting.length === 0) return;
    this.#storing ??= this.#drain().finally(() => {
      this.#storing = undefined;
    });
  }

  /** Settles when the queue is empty or the database refuses. */
  async stored(): Promise<void> {
    this.store();
    await this.#storing;
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) {
      const chunk = this.#waiting.slice(0, CHUNK);
      try {
        const events = await this.#write(chunk);
        this.#waiting = this.#waiting.slice(chunk.length);
        for (const event of events) this.#tell(event);
      } catch (error) {
        this.#deps.log.warn({ err: error, count: this.#waiting.length }, 'faults could not be stored; they wait');
        return;
      }
    }
  }

  async #write(chunk: RouterChange[]): Promise<FaultEvent[]> {
    const now = this.#deps.clock.now();
    return this.#deps.storage.writes.write(async (tx) => {
      const events: FaultEvent[] = [];
      for (const change of chunk) {
        const event = await applyChange(tx, change, now);
        if (event) events.push(event);
      }
      return events;
    });
  }

  #tell(event: FaultEvent): void {
    try {
      this.#deps.onFault?.(event);
    } catch (error) {
      this.#deps.log.error({ err: error, router_id: event.fault.router_id }, 'a fault was stored, but telling of it failed');
    }
  }
}
