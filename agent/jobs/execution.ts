import type { JobResult } from '../../protocol/index.ts';
import { sleep } from '../core/clock.ts';
import { AgentError } from '../core/errors.ts';
import type { Deadline } from '../routers/adapter.ts';
import { takeBackup } from './backup/take.ts';
import { hasRebooted, momentNow, momentOfMark } from './boot.ts';
import type { Moment } from './boot.ts';
import type { EarlierRecords, ExecutionDeps } from './execution-deps.ts';
import { UndoGuard } from './guard/undo-guard.ts';
import type { BootMark, StoredOffer } from './journal/records.ts';
import { menuOf } from './router/menu-of.ts';
import type { RouterMenu } from './router/menu.ts';
import { findSyntaxError, runStoredScript } from './script-runner.ts';
import { readMarker, scriptNameOf, wrapScript } from './run-marker.ts';
import type { Marker } from './run-marker.ts';
import { afterBrokenSession, freshProgress, hasBegun, nextStep, resumedProgress } from './steps.ts';
import type { Progress, Step } from './steps.ts';
import { longestStartMs } from './times.ts';
import { judge, mayBeRestored, neverRan, restoredWithoutRun, UNDONE_OR_NEVER_RAN } from './verdict/verdict.ts';
import type { Aftermath } from './verdict/verdict.ts';

/** Rounding difference between timers and clocks, in milliseconds. */
const TIMER_EARLY_MS = 5;
/** Attempts to learn how the run ended from a router that refuses (rights removed, another device). */
const REFUSALS_LIMIT = 20;

/**
 * Executes one permitted job from `go`, or from a restart, to END. Invariants:
 * - `run` happens at most once, in the process that wrote BEGIN, after BEGIN is on disk;
 * - the result is what the router reported (marker, answer), or `unknown`;
 * - it ends with END on disk, or by an abort; an abort writes nothing.
 */
export class Execution {
  readonly #offer: StoredOffer;
  readonly #deps: ExecutionDeps;
  readonly #menu: RouterMenu;
  readonly #signal: AbortSignal;
  /** Undefined for a job without an undo guard. */
  readonly #guard: UndoGuard | undefined;
  #progress: Progress;
  #boot: Moment;
  #retryMs: number;
  #refusals = 0;
  /** The guard restored the router although nothing had run. */
  #hasFired = false;

  /**
   * @param earlier records of earlier processes: BEGIN (`begun`) of a job that must not run again, and its undo guard
   */
  constructor(offer: StoredOffer, { begun, guard }: EarlierRecords, deps: ExecutionDeps, signal: AbortSignal) {
    this.#offer = offer;
    this.#deps = deps;
    this.#signal = signal;
    this.#menu = menuOf(deps.router);
    this.#boot = begun ? momentOfMark(begun, deps.clock) : momentNow(deps.clock, null);
    this.#progress = begun ? resumedProgress() : freshProgress(offer.undo_unless_reachable_seconds !== undefined);
    this.#retryMs = deps.times.retryMs;
    this.#guard = offer.undo_unless_reachable_seconds === undefined ? undefined : this.#createGuard(guard);
  }

  /** Never rejects. @returns the result that is in the journal, undefined when it was aborted */
  async finish(): Promise<JobResult | undefined> {
    while (!this.#signal.aborted) {
      const step = nextStep(this.#progress, this.#offer);
      try {
        Object.assign(this.#progress, await this.#executors[step]());
        this.#retryMs = this.#deps.times.retryMs;
        if (step === 'end') return this.#progress.result;
      } catch (error) {
        if (this.#signal.aborted) break;
        await this.#failed(step, error);
      }
    }
    return undefined;
  }

  readonly #executors: Record<Step, () => Promise<Partial<Progress>>> = {
    identify: async () => {
      const facts = await this.#deps.router.refresh(this.#operation());
      this.#checkDevice(facts.hardwareId);
      this.#boot = momentNow(this.#deps.clock, facts.uptimeSeconds);
      return { version: facts.softwareVersion };
    },
    inspect: () => this.#inspect(),
    check_syntax: async () => {
      const error = await findSyntaxError(this.#deps.router, this.#offer.script, this.#operation());
      return { isChecked: true, ...(error === undefined ? {} : { result: neverRan('script_error', error) }) };
    },
    back_up: async () => {
      const { times, clock } = this.#deps;
      const pause = (ms: number): Promise<void> => sleep(clock, ms, this.#signal);
      await takeBackup(this.#deps.router, this.#offer.job_id, { times: times.backup, deadline: this.#operation(), pause });
      return { isBackedUp: true };
    },
    arm: async () => {
      // Set before touching the router: parts of the guard must be removed if nothing runs.
      this.#progress.isGuardLeft = true;
      await this.#guard?.arm();
      this.#deps.onGuard(this.#guard?.firesInMs ?? null);
      return { isArmed: true };
    },
    prepare: async () => {
      const source = wrapScript(this.#offer.job_id, this.#offer.script, this.#progress.version ?? '');
      await this.#menu.writeScript(this.#name, source, this.#operation());
      return { isPrepared: true };
    },
    begin: async () => {
      if (this.#isTooLate()) return { result: NOT_IN_TIME };
      this.#boot = momentNow(this.#deps.clock, this.#boot.mark.uptime_seconds);
      await this.#deps.journal.begin(this.#offer.job_id, this.#boot.mark);
      this.#deps.onBegun();
      return { isBegun: true, isGuardLeft: false };
    },
    record_run: async () => {
      await this.#deps.journal.begin(this.#offer.job_id, this.#boot.mark);
      this.#deps.onBegun();
      return { isBegun: true, report: { kind: 'lost', late: false } };
    },
    run: async () => {
      const { job_id: jobId, script, timeout_ms: timeoutMs } = this.#offer;
      const job = { jobId, script, version: this.#progress.version ?? '' };
      const longestMs = Math.min(timeoutMs, this.#guard?.longestRunMs ?? timeoutMs);
      const report = await runStoredScript(this.#deps.router, job, { timeoutMs: longestMs, signal: this.#signal });
      // The agent is stopping; the journal keeps the job as begun.
      if (this.#signal.aborted) return {};
      return { report: report.kind === 'lost' ? { kind: 'lost', late: this.#isOutOfTime() } : report };
    },
    resolve: () => this.#resolve(),
    confirm: () => this.#confirm(),
    disarm: async () => {
      if ((await this.#guard?.disarm()) === true) this.#hasFired = true;
      else this.#deps.onGuard(null);
      return { isGuardLeft: false };
    },
    end: async () => {
      const { result, isBegun } = this.#progress;
      const reported = this.#hasFired && !isBegun ? restoredWithoutRun(result!) : result!;
      await this.#deps.journal.end(this.#offer.job_id, reported);
      return { result: reported };
    },
  };

  async #resolve(): Promise<Partial<Progress>> {
    const report = this.#progress.report!;
    const isAnswered = report.kind === 'finished' || report.kind === 'refused' || report.kind === 'not_sent';
    const after = isAnswered ? ANSWERED : await this.#readAftermath();
    const verdict = judge(report, after);
    if (verdict !== 'wait') return this.#concluded(verdict);
    await sleep(this.#deps.clock, this.#deps.times.pollMs, this.#signal);
    return {};
  }

  /** The script's outcome is known; that of a guarded job is not final yet. */
  #concluded(verdict: JobResult): Partial<Progress> {
    return this.#guard ? { verdict } : { result: verdict };
  }

  async #confirm(): Promise<Partial<Progress>> {
    const result = await this.#guard!.confirm(this.#progress.verdict!);
    if (result !== 'wait') {
      // What is unknown or undone, the result says.
      if (result.outcome !== 'unknown' && result.reason !== 'rolled_back') this.#deps.onGuard(null);
      return { result };
    }
    await sleep(this.#deps.clock, this.#deps.times.guard.pollMs, this.#signal);
    return {};
  }

  /** Reads the marker of an earlier run. The restore point of a guard that was being armed does not prove a run. */
  async #inspect(): Promise<Partial<Progress>> {
    const marker = await this.#readMarker();
    if (marker.state === 'undone') {
      const isOwn = this.#progress.isUnused || (await this.#guard?.isOwnPreparation(this.#boot)) === true;
      // Also if it ran before this disk was restored: the restore removed the guard.
      return isOwn ? { marker: { state: 'prepared' }, isUnused: true } : { result: UNDONE_OR_NEVER_RAN, isGuardLeft: false };
    }
    if (hasBegun(marker)) return { marker, isUnused: false };
    return { marker, isUnused: true, ...(this.#isTooLate() ? { result: NOT_IN_TIME } : {}) };
  }

  /** Reads the running scripts before the marker: once a script has stopped, its marker is final. */
  async #readAftermath(): Promise<Aftermath> {
    const { router, clock } = this.#deps;
    const facts = await router.refresh(this.#operation());
    this.#checkDevice(facts.hardwareId);
    const rebooted = hasRebooted(this.#boot, momentNow(clock, facts.uptimeSeconds));
    let running = await this.#menu.isRunning(this.#name, this.#operation());
    const stopped = running && this.#isOutOfTime();
    if (stopped) {
      await this.#menu.stopScript(this.#name, this.#operation());
      running = await this.#menu.isRunning(this.#name, this.#operation());
    }
    return { marker: await this.#readMarker(), running, rebooted, stopped };
  }

  #isOutOfTime(): boolean {
    return this.#deps.clock.monotonic() - this.#boot.at >= this.#offer.timeout_ms - TIMER_EARLY_MS;
  }

  async #readMarker(): Promise<Marker> {
    return readMarker(this.#offer.job_id, await this.#menu.readScript(this.#name, this.#operation()));
  }

  #checkDevice(hardwareId: string): void {
    if (hardwareId === this.#offer.hardware_id) return;
    throw new AgentError('wrong_router', `another device (${hardwareId}) answers at ${this.#offer.router}`);
  }

  async #failed(step: Step, error: unknown): Promise<void> {
    const cause = error instanceof AgentError ? error : new AgentError('internal', String(error), { cause: error });
    this.#deps.log.warn({ err: cause, job_id: this.#offer.job_id, step }, 'a step of a job failed');
    if (step === 'disarm' && (this.#progress.result || !isBrokenSession(cause))) {
      // Nothing ran, so the result is reported now and the guard is removed afterwards. Or the router refuses;
      // arming the guard will then report why.
      this.#progress.isGuardLeft = false;
      const { result } = this.#progress;
      if (result && this.#guard?.mayFire === true) this.#progress.result = mayBeRestored(result);
      return;
    }
    const end = this.#progress.isBegun ? this.#endAfterBegin(step, cause) : this.#endBeforeBegin(step, cause);
    if (end) {
      Object.assign(this.#progress, end);
      return;
    }
    this.#progress = this.#progress.isBegun ? this.#progress : afterBrokenSession(this.#progress);
    await sleep(this.#deps.clock, this.#retryMs, this.#signal);
    this.#retryMs = Math.min(this.#retryMs * 2, this.#longestRetryMs);
  }

  /** Nothing has run: a refusal is final, a broken session is retried for a while. */
  #endBeforeBegin(step: Step, cause: AgentError): Partial<Progress> | undefined {
    const isDisk = step === 'begin' || step === 'record_run' || step === 'end';
    if (!isBrokenSession(cause) && !isDisk) return { result: neverRan(step === 'back_up' ? 'backup_failed' : 'rejected', cause.message) };
    return this.#isTooLate() && step !== 'end'
      ? { result: neverRan('timed_out', `the script was not started: ${cause.message}`) }
      : undefined;
  }

  #isTooLate(): boolean {
    const { clock, permittedAt, times } = this.#deps;
    return clock.monotonic() - permittedAt > longestStartMs(this.#offer, times);
  }

  /** The script may have run: retries until the router reports the outcome, or has refused too often. */
  #endAfterBegin(step: Step, cause: AgentError): Partial<Progress> | undefined {
    if (isBrokenSession(cause)) return undefined;
    if (step === 'confirm') {
      const result = this.#guard!.giveUp(this.#progress.verdict!, this.#boot.at);
      return result && { result };
    }
    if (step !== 'resolve') return undefined;
    this.#refusals += 1;
    if (this.#refusals < REFUSALS_LIMIT) return undefined;
    const verdict = judge(this.#progress.report!, { ...ANSWERED, marker: { state: 'absent' } });
    return verdict === 'wait' ? undefined : this.#concluded(verdict);
  }

  #createGuard(boot: BootMark | undefined): UndoGuard {
    const { router, clock, times, journal, isAlive } = this.#deps;
    const { job_id: jobId } = this.#offer;
    const records = { recordGuard: (mark: BootMark) => journal.guard(jobId, mark), recordDisarmed: () => journal.disarmed(jobId) };
    const shared = { router, menu: this.#menu, clock, signal: this.#signal, isAlive, ...records };
    return new UndoGuard(this.#offer, boot, { ...shared, times: times.guard, backupTimes: times.backup, operationMs: times.operationMs });
  }

  /** A guard fires soon, so retry often. */
  get #longestRetryMs(): number {
    const { longestRetryMs, guard } = this.#deps.times;
    return this.#guard && (this.#progress.isBegun || this.#progress.isGuardLeft) ? Math.min(longestRetryMs, guard.pollMs) : longestRetryMs;
  }

  get #name(): string {
    return scriptNameOf(this.#offer.job_id);
  }

  #operation(): Deadline {
    return { timeoutMs: this.#deps.times.operationMs, signal: this.#signal };
  }
}

const NOT_IN_TIME = neverRan('timed_out', 'the script was not started: it could not begin in time');

/** A session broke or could not be opened: the next one may report the outcome. */
function isBrokenSession(cause: AgentError): boolean {
  return cause.code === 'router_unreachable' || cause.code === 'outcome_unknown';
}

/** The router has answered the call itself: nothing more to read. */
const ANSWERED: Aftermath = { marker: { state: 'begun' }, running: false, rebooted: false, stopped: false };
