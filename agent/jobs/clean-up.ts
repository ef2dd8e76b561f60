import { type Clock, sleep } from '../core/clock.ts';
import { AgentError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import { findRouter } from '../core/routers.ts';
import type { Routers } from '../core/routers.ts';
import type { Deadline, RouterAdapter } from '../routers/adapter.ts';
import { clearLeftovers } from './guard/leftovers.ts';
import type { Leftovers } from './guard/leftovers.ts';
import { reachesAll } from './guard/reach.ts';
import type { Reach } from './guard/reach.ts';
import { GuardRemoval } from './guard/removal.ts';
import { guardNameOf, recordedTime } from './guard/timing.ts';
import type { Journal } from './journal/journal.ts';
import type { JournalEntry } from './journal/memory.ts';
import type { StoredOffer } from './journal/records.ts';
import { menuOf } from './router/menu-of.ts';
import { readMarker, scriptNameOf } from './run-marker.ts';
import { hasBegun } from './steps.ts';
import type { ExecutionTimes } from './times.ts';

export interface CleanUpDeps {
  journal: Journal;
  routers: Routers;
  clock: Clock;
  log: Log;
  isAlive: Reach['isAlive'];
  times: Pick<ExecutionTimes, 'operationMs' | 'retryMs' | 'longestRetryMs' | 'guard'>;
}

/** Time of a stopping agent to remove the guard of a job that it will not begin, in milliseconds. */
const LAST_OPERATION_MS = 5000;

type RemovalOn = (router: RouterAdapter) => GuardRemoval;

/** Removes what jobs leave on routers, and retries while a router is unreachable. Never rejects; an abort ends the attempts. */
export class CleanUp {
  readonly #deps: CleanUpDeps;

  constructor(deps: CleanUpDeps) {
    this.#deps = deps;
  }

  /** Removes the stored script and the undo guard of a finished job, then its journal entry. */
  async finish(entry: JournalEntry, signal: AbortSignal): Promise<void> {
    const { offer } = entry;
    const removal = this.#removalOf(entry);
    await this.#untilDone({ job_id: offer.job_id }, signal, () =>
      this.#onRouter(offer, (router) => this.#removeAll(router, offer, removal, signal)),
    );
    // Retried while the disk is full: until then the journal reserves the router for the guard.
    await this.#untilDone({ job_id: offer.job_id }, signal, () => this.#deps.journal.cleaned(offer.job_id));
  }

  /** Removes the guard of a job that has not begun: left armed, it would reboot the router needlessly. */
  async disarm(entry: JournalEntry, signal: AbortSignal): Promise<void> {
    const { operationMs, guard } = this.#deps.times;
    const { offer } = entry;
    const removal = this.#removalOf(entry);
    const work = (): Promise<void> => this.#disarmOnce(offer, removal, { timeoutMs: operationMs, signal });
    // The guard fires soon, so retry often.
    await this.#untilDone({ job_id: offer.job_id }, signal, work, { longestMs: guard.pollMs });
  }

  /** As {@link disarm}, once and in the short time of a stopping agent. */
  async disarmNow(entry: JournalEntry): Promise<void> {
    const { offer } = entry;
    const limit = new AbortController();
    const timer = this.#deps.clock.setTimeout(() => limit.abort(), LAST_OPERATION_MS);
    const deadline = { timeoutMs: LAST_OPERATION_MS, signal: limit.signal };
    await this.#attempt({ job_id: offer.job_id }, () => this.#disarmOnce(offer, this.#removalOf(entry), deadline));
    timer.cancel();
  }

  /** For all attempts: what one of them has removed, the next one must know. */
  #removalOf({ offer, guard, isArmed }: JournalEntry): RemovalOn {
    const { times } = this.#deps;
    const time = isArmed && guard ? recordedTime(offer, guard, times.guard) : undefined;
    let removal: GuardRemoval | undefined;
    return (router) => (removal ??= new GuardRemoval(router, offer.job_id, times.guard, time));
  }

  async #disarmOnce(offer: StoredOffer, removal: RemovalOn, deadline: Deadline): Promise<void> {
    const { journal } = this.#deps;
    await this.#onRouter(offer, (router) => this.#disarmUnused(router, offer.job_id, removal(router), deadline));
    if (journal.get(offer.job_id)?.isArmed === true) await journal.disarmed(offer.job_id);
  }

  /** If the script has begun without a journal record (restored disk), the guard stays until everything is reachable. */
  async #disarmUnused(router: RouterAdapter, jobId: string, removal: GuardRemoval, deadline: Deadline): Promise<void> {
    const { isAlive, times } = this.#deps;
    const menu = menuOf(router);
    const marker = readMarker(jobId, await menu.readScript(scriptNameOf(jobId), deadline));
    if (hasBegun(marker) && !(await reachesAll({ router, isAlive }, { ...deadline, timeoutMs: times.guard.reachMs }))) {
      throw new AgentError('router_unreachable', 'the script has run, and not everything can be reached');
    }
    // While the entry exists, the mark does not prove a restore; afterwards it would be ambiguous.
    const isOwnMark = marker.state === 'undone' && (await menu.findEntry(guardNameOf(jobId), deadline)) !== undefined;
    if (isOwnMark) await menu.removeScript(scriptNameOf(jobId), deadline);
    await removal.remove(deadline);
  }

  /** Removes guards of unknown jobs. Settles when none of them can undo anything on this router. */
  async clearLeftovers(router: RouterAdapter, signal: AbortSignal): Promise<void> {
    const { clock, times } = this.#deps;
    for (;;) {
      const left = await this.#clearOnce(router, signal);
      if (left === 'none' || signal.aborted) return;
      // A removed guard may have fired meanwhile: the router then reboots within this time.
      await sleep(clock, left === 'removed' ? times.guard.rebootMs : times.guard.pollMs, signal);
    }
  }

  /** A router that refuses access to its scheduler has no guards: they could not have been armed. */
  async #clearOnce(router: RouterAdapter, signal: AbortSignal): Promise<Leftovers> {
    const { journal, isAlive, times } = this.#deps;
    let left: Leftovers = 'none';
    const isKnown = (jobId: string): boolean => journal.get(jobId) !== undefined;
    const deps = { router, isAlive, isKnown, times: times.guard, tried: new Set<string>() };
    const clear = async (): Promise<void> => {
      left = await clearLeftovers(deps, { timeoutMs: times.operationMs, signal });
    };
    await this.#untilDone({ router: router.name }, signal, clear, { isEnough: isFinal });
    return left;
  }

  /** Removes the guard regardless of the journal's record, which may be older than the guard after a disk was restored. */
  async #removeAll(router: RouterAdapter, offer: StoredOffer, removal: RemovalOn, signal: AbortSignal): Promise<void> {
    const deadline = { timeoutMs: this.#deps.times.operationMs, signal };
    if (offer.undo_unless_reachable_seconds !== undefined) await removal(router).remove(deadline);
    await menuOf(router).removeScript(scriptNameOf(offer.job_id), deadline);
  }

  /** No effect when the router is no longer configured, or another device has its name. */
  async #onRouter({ router: name, hardware_id: hardwareId }: StoredOffer, work: (router: RouterAdapter) => Promise<void>): Promise<void> {
    if (!this.#deps.routers.has(name)) return;
    const router = findRouterOrGone(this.#deps.routers, name, hardwareId);
    if (router) await work(router);
  }

  async #untilDone(
    about: object,
    signal: AbortSignal,
    work: () => Promise<void>,
    { isEnough, longestMs = this.#deps.times.longestRetryMs }: { isEnough?: (error: unknown) => boolean; longestMs?: number } = {},
  ): Promise<void> {
    const { clock, times } = this.#deps;
    for (let pause = times.retryMs; !signal.aborted; pause = Math.min(pause * 2, longestMs)) {
      if (await this.#attempt(about, work, isEnough)) return;
      await sleep(clock, pause, signal);
    }
  }

  async #attempt(about: object, work: () => Promise<void>, isEnough?: (error: unknown) => boolean): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (error) {
      const level = isAway(error) ? 'debug' : 'warn';
      this.#deps.log[level]({ err: error, ...about }, 'a router could not be cleaned up now');
      return isEnough?.(error) === true;
    }
  }
}

/** Retried until the router is back; its presence has logged the outage. */
function isAway(error: unknown): boolean {
  return error instanceof AgentError && error.code === 'router_unreachable';
}

/** A retry would get the same answer. */
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
