import { type Clock, sleep } from '../core/clock.ts';
import { AgentError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import { findRouter } from '../core/routers.ts';
import type { Routers } from '../core/routers.ts';
import type { RouterAdapter } from '../routers/adapter.ts';
import { GUARD_PREFIX, guardNameOf } from './guard/timing.ts';
import { removeGuard } from './guard/undo-guard.ts';
import type { Journal } from './journal/journal.ts';
import type { JournalEntry } from './journal/memory.ts';
import type { StoredOffer } from './journal/records.ts';
import { menuOf } from './router/menu-of.ts';
import { scriptNameOf } from './source.ts';
import type { ExecutionTimes } from './times.ts';

export interface CleanUpDeps {
  journal: Journal;
  routers: Routers;
  clock: Clock;
  log: Log;
  times: Pick<ExecutionTimes, 'errandMs' | 'retryMs' | 'longestRetryMs'>;
}

/** Takes away what jobs leave on routers, however long a router is away. Nothing rejects; an abort ends the attempts. */
export class CleanUp {
  readonly #deps: CleanUpDeps;

  constructor(deps: CleanUpDeps) {
    this.#deps = deps;
  }

  /** The stored script and the undo guard of a job that is over; then the journal forgets it. */
  async finish({ offer, guard }: JournalEntry, signal: AbortSignal): Promise<void> {
    await this.#untilDone(offer.job_id, signal, () => this.#onRouter(offer, (router) => this.#removeAll(router, offer.job_id, guard !== undefined, signal)));
    if (!signal.aborted) await this.#attempt(offer.job_id, () => this.#deps.journal.cleaned(offer.job_id));
  }

  /** The guard of a job that has not begun: left armed, it would reboot the router for nothing. */
  async standDown({ offer }: JournalEntry, signal: AbortSignal): Promise<void> {
    const deadline = { timeoutMs: this.#deps.times.errandMs, signal };
    await this.#untilDone(offer.job_id, signal, async () => {
      await this.#onRouter(offer, (router) => removeGuard(menuOf(router), offer.job_id, deadline));
      await this.#deps.journal.disarmed(offer.job_id);
    });
  }

  /**
   * Restore points of jobs that the journal does not know (its disk was wiped). Guards that are still armed stay: they
   * end by themselves, and nobody knows any more whether their time should be cut short.
   */
  async removeLeftovers(router: RouterAdapter, signal: AbortSignal): Promise<void> {
    const menu = menuOf(router);
    const deadline = { timeoutMs: this.#deps.times.errandMs, signal };
    await this.#untilDone(router.name, signal, async () => {
      const files = await menu.listFiles(GUARD_PREFIX, deadline);
      if (files.length === 0) return;
      const known = this.#deps.journal.entries().map(({ offer }) => guardNameOf(offer.job_id));
      const kept = [...known, ...(await menu.listEntries(GUARD_PREFIX, deadline))];
      for (const file of files) if (!kept.some((name) => file.includes(name))) await menu.removeFile(file, deadline);
    }, isFinal);
  }

  async #removeAll(router: RouterAdapter, jobId: string, isGuarded: boolean, signal: AbortSignal): Promise<void> {
    const deadline = { timeoutMs: this.#deps.times.errandMs, signal };
    if (isGuarded) await removeGuard(menuOf(router), jobId, deadline);
    await menuOf(router).removeScript(scriptNameOf(jobId), deadline);
  }

  /** Without effect when the router is no longer configured, or another device has taken its name: nothing is on that one. */
  async #onRouter({ router: name, hardware_id: hardwareId }: StoredOffer, work: (router: RouterAdapter) => Promise<void>): Promise<void> {
    if (!this.#deps.routers.has(name)) return;
    const router = findRouterOrGone(this.#deps.routers, name, hardwareId);
    if (router) await work(router);
  }

  async #untilDone(key: string, signal: AbortSignal, work: () => Promise<void>, isEnough: (error: unknown) => boolean = () => false): Promise<void> {
    const { clock, times } = this.#deps;
    for (let pause = times.retryMs; !signal.aborted; pause = Math.min(pause * 2, times.longestRetryMs)) {
      if (await this.#attempt(key, work, isEnough)) return;
      await sleep(clock, pause, signal);
    }
  }

  async #attempt(key: string, work: () => Promise<void>, isEnough: (error: unknown) => boolean = () => false): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (error) {
      this.#deps.log.warn({ err: error, job_id: key }, 'a router could not be cleaned now');
      return isEnough(error);
    }
  }
}

/** The router will say the same again. */
function isFinal(error: unknown): boolean {
  return error instanceof AgentError && (error.code === 'rejected' || error.code === 'unsupported');
}

function findRouterOrGone(routers: Routers, name: string, hardwareId: string): RouterAdapter | undefined {
  try {
    return findRouter(routers, name, hardwareId);
  } catch (error) {
    if (error instanceof AgentError && error.code === 'wrong_router') return undefined;
    throw error;
  }
}
