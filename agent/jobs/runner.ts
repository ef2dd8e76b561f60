import type { AgentMessage, JobDeclined, JobOffer, JobResult, OpenJob } from '../../protocol/index.ts';
import { type Clock, sleep, type Timer } from '../core/clock.ts';
import type { Log } from '../core/log.ts';
import type { Routers } from '../core/routers.ts';
import { mayUndo, declineReason } from './admission.ts';
import { takeExportAfter } from './backup/take.ts';
import { CleanUp } from './clean-up.ts';
import { Execution } from './execution.ts';
import type { GuardDeps } from './guard/undo-guard.ts';
import type { Journal } from './journal/journal.ts';
import type { JournalEntry } from './journal/memory.ts';
import type { StoredOffer } from './journal/records.ts';
import { Tasks } from './tasks.ts';
import { DEFAULT_TIMES, longestStartMs } from './times.ts';
import type { ExecutionTimes } from './times.ts';
import { NEVER_KNOWN, neverRan } from './verdict/verdict.ts';

type JobMessage = Extract<AgentMessage, { type: `job.${string}` }>;

export interface RunnerDeps {
  journal: Journal;
  routers: Routers;
  /** Sends on the tunnel if there is one; what is lost is said again in `ready`. */
  send: (message: JobMessage) => void;
  /** The control plane answers over the tunnel now. */
  isAlive: GuardDeps['isAlive'];
  clock: Clock;
  log: Log;
  times?: ExecutionTimes;
}

/**
 * What has waited so long for an answer is said again. A new tunnel does that too, but tunnels last for weeks, and an
 * answer may have come while the disk was full.
 */
const REPEAT_EVERY_MS = 60_000;

/**
 * The agent's side of the hand-over. Invariants:
 * - everything said to the control plane is on disk first;
 * - one job per router is open between ACCEPT and END;
 * - only `go` starts an accepted job, and only once; a begun job found at start is resolved, never run.
 */
export class JobRunner {
  readonly #deps: RunnerDeps;
  readonly #times: ExecutionTimes;
  readonly #cleanUp: CleanUp;
  /** Jobs with an execution or a clean-up under way, by id. */
  readonly #tasks: Tasks;
  /** Settles for each router when no guard of an unknown job can undo anything on it any more. */
  readonly #cleared = new Map<string, Promise<void>>();
  /** The newest export after a job, by router. Never rejects. */
  readonly #exporting = new Map<string, Promise<void>>();
  /** Routers with an ACCEPT on its way to the disk. */
  readonly #accepting = new Set<string>();
  /** Jobs and states that waited for an answer when it was last looked. */
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

  /** Takes up what an earlier process left: results to find out, routers to clean. Accepted jobs wait for their `go`. */
  start(): void {
    this.#clearLeftovers();
    for (const entry of this.#deps.journal.entries()) {
      if (entry.state === 'begun') this.#execute(entry);
      else if (entry.acked) this.#finish(entry);
      else if (entry.boot === undefined && mayUndo(entry)) this.#standDown(entry);
    }
    this.#repeatLater();
  }

  /** Leaves what runs to the next start: the journal knows it as begun. Closes the journal. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#repeatTimer?.cancel();
    await this.#tasks.stop();
    await this.#deps.journal.close();
  }

  /**
   * Settles with the epoch on disk. With `reset` all jobs are dropped: the control plane calls them unknown.
   * @returns what `ready` carries: the journal's id and everything the agent answers for
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
    return { journalId: journal.id, jobs: open.map(toOpenJob) };
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

  /** Says again what the journal knows: the control plane has not heard it. */
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

  /** The only permission to run. Returns at once; the job goes on by itself. */
  onGo(jobId: string): Promise<void> {
    const entry = this.#deps.journal.get(jobId);
    if (entry?.state !== 'accepted' || this.#tasks.kindOf(jobId) === 'run') return Promise.resolve();
    // A guard that is being taken away is armed anew.
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

  /** Do not begin this job. Which of BEGIN and REFUSED comes first is decided by the journal. */
  async onRevoke(jobId: string): Promise<void> {
    const entry = this.#deps.journal.get(jobId);
    if (!entry) return;
    if (entry.state !== 'accepted') return this.#repeat(entry);
    if (!(await this.#attempt(jobId, () => this.#deps.journal.refuse(jobId)))) return;
    this.#tasks.abort(jobId);
    if (entry.offer.undo_unless_reachable_seconds !== undefined) this.#standDown(entry);
    this.#send({ type: 'job.refused', job_id: jobId });
  }

  #execute(entry: JournalEntry): void {
    const { offer } = entry;
    const permittedAt = this.#deps.clock.monotonic();
    this.#tasks.start(offer.job_id, 'run', async (signal) => {
      await (entry.state === 'accepted' ? this.#untilFree(offer, signal) : this.exported(offer.router));
      if (signal.aborted) return;
      const result = await this.#conclude(entry, permittedAt, signal);
      const hasRun = await this.#afterExecution(offer.job_id);
      const exporting = result && hasRun && offer.make_backup ? Promise.withResolvers<void>() : undefined;
      if (exporting) this.#exporting.set(offer.router, exporting.promise);
      if (result) this.#send({ type: 'job.ended', job_id: offer.job_id, result });
      if (exporting) await this.#exportAfter(offer, signal).finally(exporting.resolve);
    });
  }

  /** Nothing that came before is under way on the router any more; or it is too late to begin, or aborted. */
  async #untilFree(offer: StoredOffer, signal: AbortSignal): Promise<void> {
    const isFree = Promise.all([this.exported(offer.router), this.#cleared.get(offer.router)]);
    const done = new AbortController();
    await Promise.race([isFree, sleep(this.#deps.clock, longestStartMs(offer, this.#times) + 1, AbortSignal.any([signal, done.signal]))]);
    done.abort();
  }

  /** No guard stays behind for a script that has not run. @returns whether the script may have run */
  async #afterExecution(jobId: string): Promise<boolean> {
    const entry = this.#deps.journal.get(jobId);
    if (!entry || entry.boot !== undefined) return entry !== undefined;
    if (entry.state === 'ended' && entry.isArmed) this.#standDown(entry);
    else if (entry.isArmed) await this.#cleanUp.standDownNow(entry);
    return false;
  }

  /** Settles when no job that has ended is still having its changes written down; the router's next job waits for that. */
  async exported(router: string): Promise<void> {
    await this.#exporting.get(router);
  }

  /** The result is out; this only shows what changed, so a failure is none of the job's. */
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
      return new Execution(offer, { begun, guard }, { ...this.#deps, router, times: this.#times, permittedAt, onBegun }, signal).finish();
    }
    // Taken out of the configuration since: nobody can ask it any more.
    const result = begun ? NEVER_KNOWN : neverRan('rejected', 'the router is no longer in the configuration of its agent');
    await this.#deps.journal.end(offer.job_id, result);
    return result;
  }

  #clearLeftovers(): void {
    for (const router of this.#deps.routers.values()) {
      const cleared = Promise.withResolvers<void>();
      this.#cleared.set(router.name, cleared.promise);
      this.#tasks.start(`leftovers of ${router.name}`, 'tidy', (signal) =>
        this.#cleanUp.clearLeftovers(router, signal).finally(cleared.resolve),
      );
    }
  }

  #finish(entry: JournalEntry): void {
    this.#tasks.start(entry.offer.job_id, 'tidy', (signal) => this.#cleanUp.finish(entry, signal));
  }

  /** Not before an aborted execution has ended. */
  #standDown({ offer: { job_id: jobId } }: JournalEntry): void {
    this.#tasks.start(jobId, 'tidy', async (signal) => {
      const entry = this.#deps.journal.get(jobId);
      if (entry && mayUndo(entry)) await this.#cleanUp.standDown(entry, signal);
    });
  }

  async #attempt(jobId: string, work: () => Promise<void>): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (error) {
      this.#deps.log.warn({ err: error, job_id: jobId }, 'a job could not be carried on now');
      return false;
    }
  }

  #send(message: JobMessage): void {
    this.#deps.send(message);
  }
}

function toOpenJob({ offer: { job_id }, state, result }: JournalEntry): OpenJob {
  if (state === 'ended') return { job_id, state, result: result as JobResult };
  return { job_id, state };
}
