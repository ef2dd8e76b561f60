import type { AgentMessage, JobDeclined, JobOffer, JobResult, OpenJob } from '../../protocol/index.ts';
import { type Clock, sleep, type Timer } from '../core/clock.ts';
import type { Log } from '../core/log.ts';
import type { Routers } from '../core/routers.ts';
import { mayHaveGuard, declineReason } from './acceptance.ts';
import { takeExportAfter } from './backup/take.ts';
import { CleanUp } from './clean-up.ts';
import { Execution } from './execution.ts';
import type { GuardDeps } from './guard/undo-guard.ts';
import type { Journal } from './journal/journal.ts';
import type { JournalEntry } from './journal/memory.ts';
import type { StoredOffer } from './journal/records.ts';
import { toOpenJob } from './journal/open-job.ts';
import { Tasks } from './tasks.ts';
import { DEFAULT_TIMES, longestStartMs } from './times.ts';
import type { ExecutionTimes } from './times.ts';
import { NEVER_KNOWN, neverRan } from './verdict/verdict.ts';

type JobMessage = Extract<AgentMessage, { type: `job.${string}` }>;

export interface RunnerDeps {
  journal: Journal;
  routers: Routers;
  /** Sends on the tunnel if there is one; `ready` repeats what was lost. */
  send: (message: JobMessage) => void;
  /** Whether the control plane answers over the tunnel now. */
  isAlive: GuardDeps['isAlive'];
  clock: Clock;
  log: Log;
  times?: ExecutionTimes;
}

/**
 * Unanswered messages are repeated after this time, in milliseconds. A new tunnel repeats them too, but tunnels last for weeks, and
 * an answer may have arrived while the disk was full.
 */
const REPEAT_EVERY_MS = 60_000;

/**
 * The agent's side of the hand-over. Invariants:
 * - everything reported to the control plane is on disk first;
 * - one job per router is open between ACCEPT and END;
 * - only `go` starts an accepted job, and only once; a begun job found at start is resolved, never run.
 */
export class JobRunner {
  readonly #deps: RunnerDeps;
  readonly #times: ExecutionTimes;
  readonly #cleanUp: CleanUp;
  /** Running executions and clean-ups, by job id. */
  readonly #tasks: Tasks;
  /** By router: settles when no guard of an unknown job can undo anything on it. */
  readonly #cleared = new Map<string, Promise<void>>();
  /** By router: the newest export after a job. Never rejects. */
  readonly #exporting = new Map<string, Promise<void>>();
  /** By job: when its undo guard fires, by the clock's `monotonic`. */
  readonly #armed = new Map<string, number>();
  /** Routers with an ACCEPT that is being written. */
  readonly #accepting = new Set<string>();
  /** Jobs and states that waited for an answer at the last check. */
  #waiting = new Set<string>();
  #repeatTimer: Timer | undefined;
  #stopped = false;

  constructor(deps: RunnerDeps) {
    this.#deps = deps;
    this.#times = deps.times ?? DEFAULT_TIMES;
    this.#tasks = new Tasks(deps.log);
    this.#cleanUp = new CleanUp({ ...deps, times: this.#times });
  }

  get journalId(): string {
    return this.#deps.journal.id;
  }

  get lastEpoch(): number {
    return this.#deps.journal.lastEpoch;
  }

  /** Continues the work of an earlier process: resolves begun jobs, cleans up routers. Accepted jobs wait for their `go`. */
  start(): void {
    this.#clearLeftovers();
    for (const entry of this.#deps.journal.entries()) {
      if (entry.state === 'begun') this.#execute(entry);
      else if (entry.acked) this.#finish(entry);
      else if (entry.boot === undefined && mayHaveGuard(entry)) this.#disarm(entry);
    }
    this.#repeatLater();
  }

  /** Leaves running jobs to the next start: the journal has them as begun. Closes the journal. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#repeatTimer?.cancel();
    await this.#tasks.stop();
    await this.#deps.journal.close();
  }

  /**
   * Writes the epoch to disk. With `reset` all jobs are dropped, because the control plane sets them to unknown.
   * @returns the content of `ready`: the journal's id and all open jobs
   */
  async adopt(epoch: number, reset: boolean): Promise<{ journalId: string; jobs: OpenJob[] }> {
    const { journal } = this.#deps;
    if (reset) {
      await this.#tasks.abortAll();
      await journal.reset();
      this.#clearLeftovers();
    }
    await journal.confirmEpoch(epoch);
    const open = journal.entries().filter((entry) => !entry.acked);
    return { journalId: journal.id, jobs: open.map((entry) => this.#toOpenJob(entry)) };
  }

  #toOpenJob(entry: JournalEntry): OpenJob {
    const job = toOpenJob(entry);
    const firesAt = this.#armed.get(job.job_id);
    if (firesAt === undefined || (job.state !== 'accepted' && job.state !== 'begun')) return job;
    return { ...job, guard: { fires_in_ms: Math.max(0, firesAt - this.#deps.clock.monotonic()) } };
  }

  async onOffer(offer: JobOffer): Promise<void> {
    const { journal } = this.#deps;
    const known = journal.get(offer.job_id);
    const over = journal.over(offer.job_id);
    if (known && !(known.acked && known.state === 'refused')) return this.#repeat(known);
    if (over) return this.#send({ type: 'job.ended', job_id: offer.job_id, result: over });
    const reason = known ? 'busy' : this.#declineReason(offer);
    if (reason) return this.#send({ type: 'job.declined', job_id: offer.job_id, reason });
    await this.#accept(offer);
  }

  async #accept(offer: JobOffer): Promise<void> {
    const { type: _type, ...stored } = offer;
    this.#accepting.add(offer.router);
    try {
      await this.#deps.journal.accept(stored);
      this.#send({ type: 'job.accepted', job_id: offer.job_id });
    } catch (error) {
      this.#deps.log.error({ err: error, job_id: offer.job_id }, 'a job could not be accepted');
      this.#send({ type: 'job.declined', job_id: offer.job_id, reason: 'disk' });
    } finally {
      this.#accepting.delete(offer.router);
    }
  }

  #declineReason(offer: JobOffer): JobDeclined['reason'] | undefined {
    if (this.#stopped) return 'shutting_down';
    if (this.#accepting.has(offer.router)) return 'busy';
    return declineReason(offer, this.#deps.routers, this.#deps.journal.entries());
  }

  #repeatLater(): void {
    this.#repeatTimer = this.#deps.clock.setTimeout(() => {
      const before = this.#waiting;
      this.#waiting = new Set();
      for (const entry of this.#deps.journal.entries()) {
        if (entry.acked || this.#tasks.kindOf(entry.offer.job_id)) continue;
        const key = `${entry.state} ${entry.offer.job_id}`;
        if (before.has(key)) this.#repeat(entry);
        else this.#waiting.add(key);
      }
      this.#repeatLater();
    }, REPEAT_EVERY_MS);
  }

  /** Repeats a job's state from the journal, because the control plane may have missed it. */
  #repeat(entry: JournalEntry): void {
    const { job_id } = entry.offer;
    switch (entry.state) {
      case 'accepted':
        return this.#send({ type: 'job.accepted', job_id });
      case 'begun':
        return this.#send({ type: 'job.began', job_id });
      case 'refused':
        return this.#send({ type: 'job.refused', job_id });
      case 'ended':
        return this.#send({ type: 'job.ended', job_id, result: entry.result! });
    }
  }

  /** The only permission to run. Returns at once; the job runs in the background. */
  onGo(jobId: string): Promise<void> {
    const entry = this.#deps.journal.get(jobId);
    if (entry?.state !== 'accepted' || this.#tasks.kindOf(jobId) === 'run') return Promise.resolve();
    // A guard that is being removed is armed again.
    this.#tasks.abort(jobId);
    this.#execute(entry);
    return Promise.resolve();
  }

  /** The control plane has stored the outcome. */
  async onAck(jobId: string): Promise<void> {
    const entry = this.#deps.journal.get(jobId);
    if (!entry || entry.acked || (entry.state !== 'ended' && entry.state !== 'refused')) return;
    if (!(await this.#attempt(jobId, () => this.#deps.journal.acked(jobId)))) return;
    this.#finish(entry);
  }

  /** Do not begin this job. The journal decides whether BEGIN or REFUSED comes first. */
  async onRevoke(jobId: string): Promise<void> {
    const entry = this.#deps.journal.get(jobId);
    if (!entry) return;
    if (entry.state !== 'accepted') return this.#repeat(entry);
    if (!(await this.#attempt(jobId, () => this.#deps.journal.refuse(jobId)))) return;
    this.#tasks.abort(jobId);
    if (entry.offer.undo_unless_reachable_seconds !== undefined) this.#disarm(entry);
    this.#send({ type: 'job.refused', job_id: jobId });
  }

  #execute(entry: JournalEntry): void {
    const { offer } = entry;
    const permittedAt = this.#deps.clock.monotonic();
    this.#tasks.start(offer.job_id, 'run', async (signal) => {
      await (entry.state === 'accepted' ? this.#untilFree(offer, signal) : this.whenExported(offer.router));
      if (signal.aborted) return;
      const result = await this.#conclude(entry, permittedAt, signal);
      const hasRun = await this.#afterExecution(offer.job_id);
      const exporting = result && hasRun && offer.make_backup ? Promise.withResolvers<void>() : undefined;
      if (exporting) this.#exporting.set(offer.router, exporting.promise);
      if (result) this.#send({ type: 'job.ended', job_id: offer.job_id, result });
      if (exporting) await this.#exportAfter(offer, signal).finally(exporting.resolve);
    });
  }

  /** Settles when no earlier work is running on the router, when it is too late to begin, or on abort. */
  async #untilFree(offer: StoredOffer, signal: AbortSignal): Promise<void> {
    const isFree = Promise.all([this.whenExported(offer.router), this.#cleared.get(offer.router)]);
    const done = new AbortController();
    await Promise.race([isFree, sleep(this.#deps.clock, longestStartMs(offer, this.#times) + 1, AbortSignal.any([signal, done.signal]))]);
    done.abort();
  }

  /** Removes the guard of a script that has not run. @returns whether the script may have run */
  async #afterExecution(jobId: string): Promise<boolean> {
    const entry = this.#deps.journal.get(jobId);
    if (!entry || entry.boot !== undefined) return entry !== undefined;
    if (entry.state === 'ended' && entry.isArmed) this.#disarm(entry);
    else if (entry.isArmed) await this.#cleanUp.disarmNow(entry);
    return false;
  }

  /** Settles when no export after a job is in progress on the router; its next job waits for that. */
  async whenExported(router: string): Promise<void> {
    await this.#exporting.get(router);
  }

  /** Only shows the changes of a job that has ended, so a failure does not affect the job. */
  async #exportAfter(offer: StoredOffer, signal: AbortSignal): Promise<void> {
    const router = this.#deps.routers.get(offer.router);
    const { clock } = this.#deps;
    const { backup, operationMs } = this.#times;
    const pause = (ms: number): Promise<void> => sleep(clock, ms, signal);
    const wait = { times: { ...backup, limitMs: backup.afterMs }, deadline: { timeoutMs: operationMs, signal }, pause };
    if (router) await this.#attempt(offer.job_id, () => takeExportAfter(router, offer.job_id, wait));
  }

  /** @returns the result that is in the journal, undefined when it was aborted */
  async #conclude({ offer, state, boot, guard }: JournalEntry, permittedAt: number, signal: AbortSignal): Promise<JobResult | undefined> {
    const begun = state === 'begun' ? boot : undefined;
    const router = this.#deps.routers.get(offer.router);
    if (router) {
      const onBegun = (): void => this.#send({ type: 'job.began', job_id: offer.job_id });
      const onGuard = (firesInMs: number | null): void => this.#onGuard(offer.job_id, firesInMs);
      const deps = { ...this.#deps, router, times: this.#times, permittedAt, onBegun, onGuard };
      const result = await new Execution(offer, { begun, guard }, deps, signal).finish();
      this.#armed.delete(offer.job_id);
      return result;
    }
    // The router was removed from the configuration, so it cannot be asked.
    const result = begun ? NEVER_KNOWN : neverRan('rejected', 'the router is no longer in the configuration of its agent');
    await this.#deps.journal.end(offer.job_id, result);
    return result;
  }

  #clearLeftovers(): void {
    for (const router of this.#deps.routers.values()) {
      const cleared = Promise.withResolvers<void>();
      this.#cleared.set(router.name, cleared.promise);
      this.#tasks.start(`leftovers of ${router.name}`, 'clean_up', (signal) =>
        this.#cleanUp.clearLeftovers(router, signal).finally(cleared.resolve),
      );
    }
  }

  #finish(entry: JournalEntry): void {
    this.#tasks.start(entry.offer.job_id, 'clean_up', (signal) => this.#cleanUp.finish(entry, signal));
  }

  /** Starts after an aborted execution has ended. */
  #disarm({ offer: { job_id: jobId } }: JournalEntry): void {
    this.#tasks.start(jobId, 'clean_up', async (signal) => {
      const entry = this.#deps.journal.get(jobId);
      if (entry && mayHaveGuard(entry)) await this.#cleanUp.disarm(entry, signal);
    });
  }

  async #attempt(jobId: string, work: () => Promise<void>): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (error) {
      this.#deps.log.warn({ err: error, job_id: jobId }, 'a step of a job failed and is retried later');
      return false;
    }
  }

  /** @param firesInMs null: it was removed */
  #onGuard(jobId: string, firesInMs: number | null): void {
    if (firesInMs === null) {
      // Of a guard that was never armed there is nothing to say.
      if (this.#armed.delete(jobId)) this.#send({ type: 'job.guard', job_id: jobId, state: 'disarmed', fires_in_ms: null });
      return;
    }
    this.#armed.set(jobId, this.#deps.clock.monotonic() + firesInMs);
    this.#send({ type: 'job.guard', job_id: jobId, state: 'armed', fires_in_ms: firesInMs });
  }

  #send(message: JobMessage): void {
    this.#deps.send(message);
  }
}
