import type { RouterReason } from '../../protocol/index.ts';
import { toError } from '../core/deadline.ts';
import type { RouterFacts, RouterState } from './adapter.ts';
import type { Log } from '../core/log.ts';

/** A router's state and the listeners for its changes. */
export class RouterStateTracker {
  readonly #log: Log;
  readonly #listeners = new Set<(state: RouterState) => void>();
  #state: RouterState = { reachable: false, reason: 'not connected yet', reasonCode: 'starting', facts: null };

  constructor(log: Log) {
    this.#log = log;
  }

  get state(): RouterState {
    return this.#state;
  }

  subscribe(listener: (state: RouterState) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  reachable(facts: RouterFacts | null, reason: string | null = null): void {
    this.#change({ reachable: true, reason, facts: facts ?? this.#state.facts });
  }

  /** Keeps the last known facts. @param silentSince when it answered last, if it went silent; kept until it is reachable again */
  unreachable(reason: string, reasonCode: RouterReason = 'unknown', silentSince = this.#state.silentSince): void {
    this.#change({ reachable: false, reason, reasonCode, silentSince, facts: this.#state.facts });
  }

  /** Stores a newer uptime without calling listeners, because it changes all the time. */
  updateUptime(uptime: Pick<RouterFacts, 'uptime' | 'uptimeSeconds'>): void {
    if (this.#state.facts) this.#state = { ...this.#state, facts: { ...this.#state.facts, ...uptime } };
  }

  #change(next: RouterState): void {
    const before = this.#state;
    this.#state = next;
    const same =
      before.reachable === next.reachable &&
      before.reason === next.reason &&
      before.reasonCode === next.reasonCode &&
      before.facts === next.facts;
    if (same) return;
    for (const listener of this.#listeners) {
      try {
        listener(next);
      } catch (error) {
        this.#log.error({ err: toError(error) }, 'a listener of the router state failed');
      }
    }
  }
}
