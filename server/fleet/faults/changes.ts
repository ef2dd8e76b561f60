import type { SharedUse } from '../../../runtime/fair-shares.ts';
import type { Clock } from '../../platform/core/clock.ts';
import type { Counters } from '../../platform/core/counters.ts';
import type { Log } from '../../platform/core/log.ts';
import { sampledLog } from '../../platform/core/sampled-log.ts';
import type { Storage } from '../../platform/storage/db.ts';
import { storeApart } from '../../platform/core/store-apart.ts';
import { applyChange } from './store.ts';
import type { RouterChange } from './store.ts';
import type { FaultChange, FaultEvent } from './types.ts';
import { WaitingChanges } from './waiting-changes.ts';

/** Changes of one transaction: about 20 ms on SQLite. */
const CHUNK = 100;

interface ChangesDeps {
  storage: Storage;
  clock: Clock;
  log: Log;
  onFault?: (event: FaultEvent) => void;
  counters?: Counters;
}

/**
 * Stores changes of faults in the background: in order for each fault, taking turns between teams.
 * A change that cannot be stored now is retried by the next {@link store}; one that can never be stored is dropped.
 */
export class Changes {
  readonly #deps: ChangesDeps;
  readonly #log: Log;
  readonly #waiting = new WaitingChanges();
  /** Taken from the queue and not stored yet. */
  #chunk: RouterChange[] = [];
  #storing: Promise<void> | undefined;

  constructor(deps: ChangesDeps) {
    this.#deps = deps;
    this.#log = sampledLog(deps.log, deps.clock);
  }

  get shares(): SharedUse {
    return this.#waiting.shares;
  }

  add({ teamId, routerId }: { teamId: string; routerId: string }, changes: readonly FaultChange[]): void {
    if (changes.length === 0) return;
    const lost = changes.filter((change) => !this.#waiting.add({ teamId, routerId, change })).length;
    if (lost > 0)
      this.#log.error(
        { team_id: teamId, router_id: routerId, count: lost },
        'too many fault changes of a team are waiting for the database; new ones are dropped',
      );
    this.store();
  }

  /** Starts storing the queued changes, unless that is already in progress. */
  store(): void {
    if (this.#waiting.shares.taken > 0) this.#storing ??= this.#drain();
  }

  /** Resolves when the queue is empty or the database fails. */
  async stored(): Promise<void> {
    this.store();
    await this.#storing;
  }

  /** Call when changes are queued. Never rejects. */
  async #drain(): Promise<void> {
    while (this.#waiting.shares.taken > 0) {
      if (this.#chunk.length === 0) this.#chunk = this.#waiting.take(CHUNK);
      const chunk = this.#chunk;
      const { refused, left, error } = await storeApart(chunk, async (changes) => {
        for (const event of await this.#write(changes)) this.#publish(event);
      });
      for (const { row, error: reason } of refused) {
        const { teamId, routerId } = row;
        this.#log.error(
          { err: reason, team_id: teamId, router_id: routerId },
          'the database rejects a fault change permanently; it is dropped',
        );
      }
      this.#deps.counters?.refuseRows('faults', refused.length);
      this.#chunk = left;
      this.#waiting.done(chunk.slice(0, chunk.length - left.length));
      if (left.length === 0) continue;
      this.#deps.log.warn({ err: error, count: this.#waiting.shares.taken }, 'fault changes could not be stored; they are retried');
      break;
    }
    this.#storing = undefined;
  }

  async #write(chunk: readonly RouterChange[]): Promise<FaultEvent[]> {
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

  #publish(event: FaultEvent): void {
    try {
      this.#deps.onFault?.(event);
    } catch (error) {
      this.#deps.log.error({ err: error, router_id: event.fault.router_id }, 'a fault was stored, but its listeners failed');
    }
  }
}
