import type { JobResult } from '../../protocol/index.ts';
import { type Clock, sleep } from '../core/clock.ts';
import { AgentError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import type { Deadline, RouterAdapter } from '../routers/adapter.ts';
import { takeBackup } from './backup.ts';
import type { BackupTimes } from './backup.ts';
import type { BootMark, StoredOffer } from './journal/records.ts';
import { menuOf } from './router/menu-of.ts';
import type { RouterMenu } from './router/menu.ts';
import { findSyntaxError, runStoredScript } from './script-runner.ts';
import { readMarker, scriptNameOf, wrapScript } from './source.ts';
import type { Marker } from './source.ts';
import { afterDoubt, freshProgress, nextStep, resumedProgress } from './steps.ts';
import type { Progress, Step } from './steps.ts';
import { judge, neverRan } from './verdict/verdict.ts';
import type { Aftermath } from './verdict/verdict.ts';

export interface ExecutionTimes {
  /** One small errand on the router, milliseconds. */
  errandMs: number;
  /** First and longest pause before an errand that failed is tried again, milliseconds. */
  retryMs: number;
  longestRetryMs: number;
  /** Between two looks at a script that still runs, milliseconds. */
  pollMs: number;
  /** How long everything before BEGIN may take beyond the job's own timeout, milliseconds. */
  prepareMs: number;
  backup: BackupTimes;
}

export const DEFAULT_TIMES: ExecutionTimes = {
  errandMs: 20_000,
  retryMs: 500,
  longestRetryMs: 15_000,
  pollMs: 2000,
  prepareMs: 60_000,
  backup: { pollMs: 1000, limitMs: 120_000 },
};

/** What the journal does for an execution. */
export interface ExecutionJournal {
  begin(jobId: string, boot: BootMark): Promise<void>;
  end(jobId: string, result: JobResult): Promise<void>;
}

export interface ExecutionDeps {
  router: RouterAdapter;
  journal: ExecutionJournal;
  clock: Clock;
  log: Log;
  times: ExecutionTimes;
  /** BEGIN is on disk. */
  onBegun: () => void;
}

/** A clock that is off by less than this between agent and router is not a reboot, seconds. */
const UPTIME_TOLERANCE_S = 120;
/** Timers and the wall clock round differently, milliseconds. */
const TIMER_EARLY_MS = 5;
/** The router refuses to say how the run ended (rights taken away, another device): asked so often, then given up. */
const REFUSALS_LIMIT = 20;

/**
 * One permitted job on its way from `go` to END, or from a restart to END. Invariants:
 * - `run` happens at most once, in the process that wrote BEGIN, after BEGIN is on disk;
 * - the result is what the router said (marker, answer), or `unknown`;
 * - it ends with END on disk, or when it is aborted; then nothing has been written for it.
 */
export class Execution {
  readonly #offer: StoredOffer;
  readonly #deps: ExecutionDeps;
  readonly #menu: RouterMenu;
  readonly #signal: AbortSignal;
  readonly #startedAt: number;
  #progress: Progress;
  #boot: BootMark;
  #retryMs: number;
  #refusals = 0;

  /** @param begun the BEGIN of an earlier process, for a job that must not run again */
  constructor(offer: StoredOffer, begun: BootMark | undefined, deps: ExecutionDeps, signal: AbortSignal) {
    this.#offer = offer;
    this.#deps = deps;
    this.#signal = signal;
    this.#menu = menuOf(deps.router);
    this.#startedAt = deps.clock.now();
    this.#boot = begun ?? { at: this.#startedAt, uptime_seconds: null };
    this.#progress = begun ? resumedProgress() : freshProgress();
    this.#retryMs = deps.times.retryMs;
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
      const facts = await this.#deps.router.refresh(this.#errand());
      this.#checkDevice(facts.hardwareId);
      this.#boot = { at: this.#deps.clock.now(), uptime_seconds: facts.uptimeSeconds };
      return { version: facts.softwareVersion };
    },
    look: async () => ({ marker: await this.#readMarker() }),
    check_syntax: async () => {
      const error = await findSyntaxError(this.#deps.router, this.#offer.script, this.#errand());
      return { isChecked: true, ...(error === undefined ? {} : { result: neverRan('script_error', error) }) };
    },
    back_up: async () => {
      const { times, clock } = this.#deps;
      const pause = (ms: number): Promise<void> => sleep(clock, ms, this.#signal);
      await takeBackup(this.#menu, this.#name, { times: times.backup, deadline: this.#errand(), pause });
      return { isBackedUp: true };
    },
    prepare: async () => {
      const source = wrapScript(this.#offer.job_id, this.#offer.script, this.#progress.version ?? '');
      await this.#menu.writeScript(this.#name, source, this.#errand());
      return { isPrepared: true };
    },
    begin: async () => {
      this.#boot = { ...this.#boot, at: this.#deps.clock.now() };
      await this.#deps.journal.begin(this.#offer.job_id, this.#boot);
      this.#deps.onBegun();
      return { isBegun: true };
    },
    admit: async () => {
      await this.#deps.journal.begin(this.#offer.job_id, this.#boot);
      this.#deps.onBegun();
      return { isBegun: true, report: { kind: 'lost', late: false } };
    },
    run: async () => {
      const { job_id: jobId, script, timeout_ms: timeoutMs } = this.#offer;
      const job = { jobId, script, version: this.#progress.version ?? '' };
      const report = await runStoredScript(this.#deps.router, job, { timeoutMs, signal: this.#signal });
      // Aborted: the agent is stopping, and the journal keeps it as begun.
      if (this.#signal.aborted) return {};
      return { report: report.kind === 'lost' ? { kind: 'lost', late: this.#isOutOfTime() } : report };
    },
    resolve: () => this.#resolve(),
    end: async () => {
      await this.#deps.journal.end(this.#offer.job_id, this.#progress.result!);
      return {};
    },
  };

  async #resolve(): Promise<Partial<Progress>> {
    const report = this.#progress.report!;
    const isAnswered = report.kind === 'finished' || report.kind === 'refused' || report.kind === 'not_sent';
    const after = isAnswered ? ANSWERED : await this.#readAftermath();
    const verdict = judge(report, after);
    if (verdict !== 'wait') return { result: verdict };
    await sleep(this.#deps.clock, this.#deps.times.pollMs, this.#signal);
    return {};
  }

  /** The running scripts are read before the marker: a script that is not running any more has written its last word. */
  async #readAftermath(): Promise<Aftermath> {
    const { router, clock } = this.#deps;
    const facts = await router.refresh(this.#errand());
    this.#checkDevice(facts.hardwareId);
    const rebooted = hasRebooted(this.#boot, { at: clock.now(), uptime_seconds: facts.uptimeSeconds });
    let running = await this.#menu.isRunning(this.#name, this.#errand());
    const stopped = running && this.#isOutOfTime();
    if (stopped) {
      await this.#menu.stopScript(this.#name, this.#errand());
      running = await this.#menu.isRunning(this.#name, this.#errand());
    }
    return { marker: await this.#readMarker(), running, rebooted, stopped };
  }

  #isOutOfTime(): boolean {
    return this.#deps.clock.now() - this.#boot.at >= this.#offer.timeout_ms - TIMER_EARLY_MS;
  }

  async #readMarker(): Promise<Marker> {
    return readMarker(this.#offer.job_id, await this.#menu.readScript(this.#name, this.#errand()));
  }

  #checkDevice(hardwareId: string): void {
    if (hardwareId === this.#offer.hardware_id) return;
    throw new AgentError('wrong_router', `another device (${hardwareId}) answers at ${this.#offer.router}`);
  }

  async #failed(step: Step, error: unknown): Promise<void> {
    const cause = error instanceof AgentError ? error : new AgentError('internal', String(error), { cause: error });
    this.#deps.log.warn({ err: cause, job_id: this.#offer.job_id, step }, 'a step of a job failed');
    const result = this.#progress.isBegun ? this.#resultAfterBegin(step, cause) : this.#resultBeforeBegin(step, cause);
    if (result) {
      this.#progress.result = result;
      return;
    }
    this.#progress = this.#progress.isBegun ? this.#progress : afterDoubt(this.#progress);
    await sleep(this.#deps.clock, this.#retryMs, this.#signal);
    this.#retryMs = Math.min(this.#retryMs * 2, this.#deps.times.longestRetryMs);
  }

  /** Nothing has run: a refusal is final, a broken session is tried again for a while. */
  #resultBeforeBegin(step: Step, cause: AgentError): JobResult | undefined {
    const isDoubt = cause.code === 'router_unreachable' || cause.code === 'outcome_unknown';
    const isDisk = step === 'begin' || step === 'admit' || step === 'end';
    if (!isDoubt && !isDisk) return neverRan(step === 'back_up' ? 'backup_failed' : 'rejected', cause.message);
    const { times, clock } = this.#deps;
    const backupMs = this.#offer.make_backup ? times.backup.limitMs : 0;
    const isLate = clock.now() - this.#startedAt > this.#offer.timeout_ms + times.prepareMs + backupMs;
    return isLate && step !== 'end' ? neverRan('timed_out', `the script was not started: ${cause.message}`) : undefined;
  }

  /** It may have run: only the router can tell, however long it takes; a router that keeps refusing cannot. */
  #resultAfterBegin(step: Step, cause: AgentError): JobResult | undefined {
    if (step !== 'resolve' || cause.code === 'router_unreachable' || cause.code === 'outcome_unknown') return undefined;
    this.#refusals += 1;
    if (this.#refusals < REFUSALS_LIMIT) return undefined;
    const verdict = judge(this.#progress.report!, { ...ANSWERED, marker: { state: 'absent' } });
    return verdict === 'wait' ? undefined : verdict;
  }

  get #name(): string {
    return scriptNameOf(this.#offer.job_id);
  }

  #errand(): Deadline {
    return { timeoutMs: this.#deps.times.errandMs, signal: this.#signal };
  }
}

/** The router has answered the call itself: there is nothing more to read. */
const ANSWERED: Aftermath = { marker: { state: 'begun' }, running: false, rebooted: false, stopped: false };

/** Uptime that went back, or that is shorter than the time since BEGIN by more than clocks differ. */
export function hasRebooted(begin: BootMark, now: BootMark): boolean {
  if (begin.uptime_seconds === null || now.uptime_seconds === null) return false;
  const elapsed = (now.at - begin.at) / 1000;
  return now.uptime_seconds < begin.uptime_seconds || now.uptime_seconds < begin.uptime_seconds + elapsed - UPTIME_TOLERANCE_S;
}
