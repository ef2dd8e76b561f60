import type { JobResult } from '../../../protocol/index.ts';
import { type Clock, sleep } from '../../core/clock.ts';
import { AgentError } from '../../core/errors.ts';
import type { Deadline, RouterAdapter, RouterFacts } from '../../routers/adapter.ts';
import { hasRebooted, momentNow, recalled } from '../boot.ts';
import type { Moment } from '../boot.ts';
import type { BootMark, StoredOffer } from '../journal/records.ts';
import type { NewEntry, RouterMenu } from '../router/menu.ts';
import { readMarker, scriptNameOf, undoneMarker } from '../source.ts';
import { targetOf, waitForFile } from '../backup/take.ts';
import type { BackupTimes } from '../backup/take.ts';
import { dateFor } from '../../../routeros-text/clock.ts';
import { reachesAll } from './reach.ts';
import type { Reach } from './reach.ts';
import { GUARD_PREFIX, guardNameOf, secondsLeft, tickSource } from './timing.ts';
import type { GuardTime } from './timing.ts';

export interface GuardTimes {
  /** How often the router looks whether its time has come, seconds. */
  tickSeconds: number;
  /** Between two attempts to prove that everything can still be reached, milliseconds. */
  pollMs: number;
  /** For a fresh session with the router and for the control plane's answer, milliseconds. */
  reachMs: number;
  /** Nearer to the end than this nothing is disarmed any more: the load may be under way, seconds. */
  marginSeconds: number;
  /** A router that has not undone the script so long after the end cannot, seconds. */
  graceSeconds: number;
  /** How long the router may show what it has restored before it is down for its reboot, milliseconds. */
  rebootMs: number;
}

export const GUARD_TIMES: GuardTimes = {
  // Two looks a minute would be enough; what counts is that arming can wait for the first one.
  tickSeconds: 5,
  pollMs: 3000,
  reachMs: 15_000,
  marginSeconds: 5,
  graceSeconds: 60,
  rebootMs: 30_000,
};

/** Ticks waited for before the script may run. */
const TICKS_WAITED = 4;
/** The script runs for its time, the guard for its own, and the router boots; after that nobody expects it any more. */
const GIVE_UP_MS = 15 * 60_000;
const WAIT = { result: 'wait', isOver: false } as const;
/** What saving and loading a backup need by the experience of many, for user and entry alike. */
const POLICY = 'ftp,reboot,read,write,policy,test,password,sensitive';

export interface GuardDeps extends Reach {
  router: RouterAdapter;
  menu: RouterMenu;
  clock: Clock;
  times: GuardTimes;
  backupTimes: BackupTimes;
  /** One small errand on the router, milliseconds. */
  operationMs: number;
  signal: AbortSignal;
  /** To the journal, before the router is touched, and again with the time from which the guard counts. */
  note: (boot: BootMark) => Promise<void>;
  /** To the journal: the guard can do nothing any more. */
  noteDisarmed: () => Promise<void>;
}

/**
 * The undo guard of one job. A scheduler entry on the router loads the restore point unless it is taken away in time.
 * Invariants:
 * - the restore point is saved before the entry exists, so loading it removes the entry;
 * - the restore point alone holds the script's source `# job <id> undone`: found after BEGIN, it proves the load;
 * - the entry is taken away only after a fresh session with the router and an answer of the control plane, and while
 *   the load cannot have begun.
 */
export class UndoGuard {
  readonly #offer: StoredOffer;
  readonly #deps: GuardDeps;
  readonly #name: string;
  #boot: Moment | undefined;
  #version = '';
  #undoneSince: number | undefined;
  #mayFire: boolean;

  /** @param boot the journal's note of a guard that an earlier process began to arm */
  constructor(offer: StoredOffer, boot: BootMark | undefined, deps: GuardDeps) {
    this.#offer = offer;
    this.#deps = deps;
    this.#name = guardNameOf(offer.job_id);
    this.#boot = boot && recalled(boot, deps.clock);
    this.#mayFire = boot !== undefined;
  }

  /** The router may have been given an entry that restores it. */
  get mayFire(): boolean {
    return this.#mayFire;
  }

  /** Longest useful wait for the script, milliseconds: by then the router has undone it. */
  get longestRunMs(): number {
    return (this.#allowed + 3 * this.#deps.times.tickSeconds) * 1000;
  }

  /**
   * An earlier process began to arm, and no load can have happened since: what it left says nothing about a run. A load
   * reboots the router, and takes the entry away.
   */
  async isOwnPreparation(now: Moment): Promise<boolean> {
    if (this.#boot !== undefined && !hasRebooted(this.#boot, now)) return true;
    return (await this.#deps.menu.findEntry(this.#name, this.#operation())) !== undefined;
  }

  /**
   * Settles when the router has been seen to tick.
   * @throws AgentError `rejected` when this router cannot be guarded
   */
  async arm(): Promise<void> {
    const { menu } = this.#deps;
    const { job_id: jobId } = this.#offer;
    try {
      this.#boot = await this.#noteBoot();
      await this.#refuseOther();
      await menu.removeEntry(this.#name, this.#operation());
      await menu.writeScript(scriptNameOf(jobId), undoneMarker(jobId), this.#operation());
      const file = await this.#saveRestorePoint();
      this.#boot = await this.#noteBoot();
      this.#mayFire = true;
      await menu.addEntry(this.#entry(file, this.#boot), this.#operation());
      await this.#waitForTick();
      // Another agent with the same credentials may have been at it meanwhile: of two, one at least sees the other.
      await this.#refuseOther();
      if ((await menu.fileSize(file, this.#operation())) === undefined)
        throw new AgentError('rejected', `the restore point ${file} has gone`);
    } catch (error) {
      if (!(error instanceof AgentError) || error.code === 'router_unreachable' || error.code === 'outcome_unknown') throw error;
      throw new AgentError('rejected', `the undo guard cannot be armed, nothing ran: ${error.message}`, { cause: error });
    }
  }

  /**
   * Takes away what was made for a script that has not run; also what an older journal no longer knows of.
   * @returns whether it was too late: the router has restored itself, with nothing to undo
   */
  async standDown(): Promise<boolean> {
    const hasFired = await this.#hasFired();
    // Before the entry, which proves that the mark in it is no trace of a load.
    await this.#deps.menu.removeScript(scriptNameOf(this.#offer.job_id), this.#operation());
    await removeGuard(this.#deps.menu, this.#offer.job_id, this.#operation());
    if (this.#boot) await this.#deps.noteDisarmed();
    return hasFired;
  }

  /** Only a load leaves the mark without the entry, and it reboots the router. */
  async #hasFired(): Promise<boolean> {
    const { router, menu, clock } = this.#deps;
    if (!this.#boot || !this.#mayFire) return false;
    const { uptimeSeconds } = await router.refresh(this.#operation());
    if (!hasRebooted(this.#boot, momentNow(clock, uptimeSeconds))) return false;
    const marker = readMarker(this.#offer.job_id, await menu.readScript(scriptNameOf(this.#offer.job_id), this.#operation()));
    return marker.state === 'undone' && (await menu.findEntry(this.#name, this.#operation())) === undefined;
  }

  /**
   * Whether what the script did stays.
   * @param verdict what became of the script itself
   */
  async settle(verdict: JobResult): Promise<JobResult | 'wait'> {
    const { result, isOver } = await this.#examine(verdict);
    if (isOver && this.#boot) await this.#deps.noteDisarmed();
    return result;
  }

  /** `isOver`: the guard can do nothing any more. */
  async #examine(verdict: JobResult): Promise<{ result: JobResult | 'wait'; isOver: boolean }> {
    const { router, menu, times, signal } = this.#deps;
    const facts = await router.refresh(this.#operation());
    this.#checkDevice(facts);
    const marker = readMarker(this.#offer.job_id, await menu.readScript(scriptNameOf(this.#offer.job_id), this.#operation()));
    if (marker.state === 'undone')
      return this.#isAboutToReboot(facts) ? WAIT : { result: rolledBack(verdict, this.#boot !== undefined), isOver: true };
    const entry = await menu.findEntry(this.#name, this.#operation());
    if (facts.uptimeSeconds === null) return WAIT;
    const left = secondsLeft(this.#time(this.#boot), facts.uptimeSeconds);
    // Whoever took it away: the load, had it begun before that, would be over by now.
    if (!entry) return left > 0 || left < -times.graceSeconds ? { result: verdict, isOver: true } : WAIT;
    if (left < -times.graceSeconds) return { result: notUndone(verdict), isOver: false };
    if (left <= times.marginSeconds || !(await reachesAll(this.#deps, { timeoutMs: times.reachMs, signal }))) return WAIT;
    await menu.removeEntry(this.#name, this.#operation());
    // Looked at once more: only an entry that was gone before its time cannot have fired.
    return this.#examine(verdict);
  }

  /**
   * @param begunAt when the script began, by the clock's `monotonic`
   * @returns a result when there is no point in asking this router any more
   */
  giveUp(verdict: JobResult, begunAt: number): JobResult | undefined {
    const isLate = this.#deps.clock.monotonic() - begunAt > this.longestRunMs + GIVE_UP_MS;
    return isLate ? notUndone(verdict) : undefined;
  }

  get #allowed(): number {
    return this.#offer.undo_unless_reachable_seconds ?? 0;
  }

  #time(boot: Moment | undefined): GuardTime {
    // Arming waits for the first tick: that is not taken from the script's time.
    return { armedAt: boot?.mark.uptime_seconds ?? 0, allowed: this.#allowed + this.#deps.times.tickSeconds };
  }

  #entry(file: string, boot: Moment): NewEntry {
    return {
      name: this.#name,
      everySeconds: this.#deps.times.tickSeconds,
      startDate: dateFor(this.#version, '1970-01-01'),
      source: tickSource(this.#name, file, this.#time(boot)),
      policy: POLICY,
    };
  }

  async #noteBoot(): Promise<Moment> {
    const facts = await this.#deps.router.refresh(this.#operation());
    this.#checkDevice(facts);
    this.#version = facts.softwareVersion;
    if (facts.uptimeSeconds === null) throw new AgentError('rejected', 'the uptime of the router cannot be read');
    const boot = momentNow(this.#deps.clock, Math.floor(facts.uptimeSeconds));
    await this.#deps.note(boot.mark);
    return boot;
  }

  /** It would come back with this job's restore point, and load its own. */
  async #refuseOther(): Promise<void> {
    const entries = await this.#deps.menu.listEntries(GUARD_PREFIX, this.#operation());
    const other = entries.find((name) => name !== this.#name);
    if (other !== undefined) throw new AgentError('rejected', `another guard is armed on this router (${other})`);
  }

  /** @returns the file's name. It must outlast a reboot by the script. */
  async #saveRestorePoint(): Promise<string> {
    const { menu, clock, signal, backupTimes: times } = this.#deps;
    const name = await targetOf(menu, this.#name, this.#operation());
    await menu.removeFile(`${name}.backup`, this.#operation());
    await menu.saveBackup(name, this.#operation());
    const pause = (ms: number): Promise<void> => sleep(clock, ms, signal);
    await waitForFile(menu, `${name}.backup`, { times, deadline: this.#operation(), pause });
    return `${name}.backup`;
  }

  /** An entry that is there may still never run; one that has run will run again. */
  async #waitForTick(): Promise<void> {
    const { menu, clock, signal, times } = this.#deps;
    for (let waited = 0; waited <= TICKS_WAITED * times.tickSeconds && !signal.aborted; waited += 1) {
      const entry = await menu.findEntry(this.#name, this.#operation());
      if (entry && entry.runCount > 0 && entry.nextRun !== '' && !entry.disabled) return;
      await sleep(clock, 1000, signal);
    }
    throw new AgentError('rejected', 'the router does not run its scheduler');
  }

  /** Between the load and the reboot the router still answers, with the restored configuration. */
  #isAboutToReboot(facts: RouterFacts): boolean {
    const { clock, times } = this.#deps;
    const now = momentNow(clock, facts.uptimeSeconds);
    this.#undoneSince ??= now.at;
    const isBack = this.#boot !== undefined && hasRebooted(this.#boot, now);
    return !isBack && now.at - this.#undoneSince < times.rebootMs;
  }

  #checkDevice({ hardwareId }: RouterFacts): void {
    if (hardwareId === this.#offer.hardware_id) return;
    throw new AgentError('wrong_router', `another device (${hardwareId}) answers at ${this.#offer.router}`);
  }

  #operation(): Deadline {
    return { timeoutMs: this.#deps.operationMs, signal: this.#deps.signal };
  }
}

/** Takes a job's entry and restore point away, the entry first: without it the file does nothing. */
export async function removeGuard(menu: RouterMenu, jobId: string, deadline: Deadline): Promise<void> {
  const name = guardNameOf(jobId);
  await menu.removeEntry(name, deadline);
  for (const file of await menu.listFiles(name, deadline)) await menu.removeFile(file, deadline);
}

const ROLLED_BACK =
  'the router or the control plane could not be reached after the script; the router has restored its configuration from before it';

/** @param isKnown false: the journal is older than the guard, so nobody knows whether the script ran before */
function rolledBack(verdict: JobResult, isKnown: boolean): JobResult {
  // It certainly never ran, whatever came back later.
  if (verdict.reason === 'rejected') return verdict;
  if (!isKnown) return { ...verdict, outcome: 'unknown', reason: 'interrupted', error: 'the script was undone or never ran' };
  const error = verdict.outcome === 'failed' && verdict.error !== null ? `${ROLLED_BACK}. The script: ${verdict.error}` : ROLLED_BACK;
  return { ...verdict, outcome: 'failed', reason: 'rolled_back', error: error.slice(0, 4000) };
}

function notUndone(verdict: JobResult): JobResult {
  if (verdict.outcome !== 'completed') return verdict;
  const error = 'the script came to its end, but its guard could not be disarmed in time, and the router did not undo it';
  return { ...verdict, outcome: 'unknown', reason: 'interrupted', error };
}
