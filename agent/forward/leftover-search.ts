import type { Clock, Timer } from '../core/clock.ts';
import type { Log } from '../core/log.ts';
import type { RouterAdapter } from '../routers/adapter.ts';
import { removeLeftovers } from './leftovers.ts';
import type { SearchResult } from './leftovers.ts';

export interface LeftoverSearchOptions {
  /** Prefix of everything that this agent writes on a router. */
  agentTag: () => Promise<string>;
  isOpen: (forwardId: string) => boolean;
  clock: Clock;
  log: Log;
}

/** Wait before a search, because a rule that the router did not confirm in time may still appear. Doubles after each failure. */
const FIRST_WAIT_MS = 5_000;
const LONGEST_WAIT_MS = 300_000;

/** A router that may have leftovers of this agent. */
interface Suspect {
  timer: Timer | undefined;
  running: Promise<void> | undefined;
  /** Failed searches in a row. */
  failures: number;
  /** Something new may have been left behind since the running search began. */
  again: boolean;
}

/** Searches routers for leftovers of closed forwards and repeats each search until it succeeds. */
export class LeftoverSearch {
  readonly #options: LeftoverSearchOptions;
  readonly #suspects = new Map<RouterAdapter, Suspect>();
  /** Hardware id of the device that answered last. */
  readonly #devices = new Map<RouterAdapter, string>();
  /** Forwards passed to {@link searchNow}. */
  readonly #over = new Set<string>();
  #stopped = false;

  constructor(options: LeftoverSearchOptions) {
    this.#options = options;
  }

  /** Schedules a search of the router, repeated until it succeeds. */
  suspect(router: RouterAdapter): void {
    const known = this.#suspects.get(router);
    if (known?.running) known.again = true;
    if (known || this.#stopped) return;
    const suspect = { timer: undefined, running: undefined, failures: 0, again: false };
    this.#suspects.set(router, suspect);
    this.#schedule(router, suspect);
  }

  /** Schedules a search of a device that was not seen before: an earlier run may have left something. */
  seen(router: RouterAdapter): void {
    const device = router.state().facts?.hardwareId;
    if (!router.hasApi || device === undefined || this.#devices.get(router) === device) return;
    this.#devices.set(router, device);
    this.suspect(router);
  }

  /** Searches a suspect now, if it is reachable. Never rejects. */
  async search(router: RouterAdapter): Promise<void> {
    const suspect = this.#suspects.get(router);
    if (!suspect || this.#stopped || !router.state().reachable) return;
    suspect.running ??= this.#run(router, suspect);
    await suspect.running;
  }

  /**
   * Searches all suspects whose last search did not fail. Leftovers from before the call are gone afterwards; of the given forward,
   * which is over, also disabled rules. Never rejects.
   */
  async searchNow(forwardId?: string): Promise<void> {
    if (forwardId !== undefined) this.#over.add(forwardId);
    await Promise.all([...this.#suspects.keys()].map((router) => this.#searchAgain(router)));
    if (forwardId !== undefined) this.#over.delete(forwardId);
  }

  /** Ends all waits. The next run of the agent searches every router. */
  async stop(): Promise<void> {
    this.#stopped = true;
    for (const { timer } of this.#suspects.values()) timer?.cancel();
    await Promise.all([...this.#suspects.values()].map(async ({ running }) => running));
  }

  /** Searches again after a running search, which may have missed the newest leftovers. */
  async #searchAgain(router: RouterAdapter): Promise<void> {
    await this.#suspects.get(router)?.running;
    if (this.#suspects.get(router)?.failures === 0) await this.search(router);
  }

  async #run(router: RouterAdapter, suspect: Suspect): Promise<void> {
    suspect.timer?.cancel();
    suspect.again = false;
    const result = await this.#remove(router);
    suspect.running = undefined;
    suspect.failures = result === 'failed' ? suspect.failures + 1 : 0;
    if (result === 'searched' && !suspect.again) this.#suspects.delete(router);
    else
      this.#schedule(
        router,
        suspect,
        result === 'held' && !suspect.again ? LONGEST_WAIT_MS : FIRST_WAIT_MS * 2 ** Math.min(suspect.failures, 10),
      );
  }

  async #remove(router: RouterAdapter): Promise<SearchResult> {
    const { agentTag, isOpen, log } = this.#options;
    try {
      return await removeLeftovers(router, await agentTag(), { isOpen, isOver: (id) => this.#over.has(id) }, log);
    } catch (error) {
      log.warn({ err: error }, 'the tag of this agent could not be read');
      return 'failed';
    }
  }

  /** A router that is unreachable at that time is searched when it is back. */
  #schedule(router: RouterAdapter, suspect: Suspect, waitMs = FIRST_WAIT_MS): void {
    if (this.#stopped) return;
    suspect.timer = this.#options.clock.setTimeout(() => void this.search(router), Math.min(LONGEST_WAIT_MS, waitMs));
  }
}
