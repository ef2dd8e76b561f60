import type { JobResult } from '../../../protocol/index.ts';
import { type Clock, sleep } from '../../core/clock.ts';
import { AgentError } from '../../core/errors.ts';
import { GUARD_POLICIES } from '../../core/user-policies.ts';
import { uptimeSpanIn } from '../../core/router-uptime.ts';
import type { Deadline, RouterAdapter, RouterFacts } from '../../routers/adapter.ts';
import { hasRebooted, momentNow, momentOfMark } from '../boot.ts';
import type { Moment } from '../boot.ts';
import type { BootMark, StoredOffer } from '../journal/records.ts';
import type { NewEntry, RouterMenu } from '../router/menu.ts';
import { readMarker, scriptNameOf, undoneMarker } from '../run-marker.ts';
import { targetOf, waitForFile } from '../backup/take.ts';
import type { BackupTimes } from '../backup/take.ts';
import { dateFor } from '../../../routeros-text/clock.ts';
import { whyNotArmed } from './lacking.ts';
import { reachesAll } from './reach.ts';
import type { Reach } from './reach.ts';
import { GuardRemoval } from './removal.ts';
import { notUndone, rolledBack } from './results.ts';
import { GUARD_PREFIX, guardNameOf, recordedTime, secondsLeft, tickSource } from './timing.ts';
import type { GuardTime, LoadTimes } from './timing.ts';

export interface GuardTimes extends LoadTimes {
  /** How often the router checks whether its time is over, in seconds. */
  tickSeconds: number;
  /** Between two attempts to confirm reachability, in milliseconds. */
  pollMs: number;
  /** For a fresh session with the router and for the control plane's answer, in milliseconds. */
  reachMs: number;
  /** How long the router may still answer after the load, before it reboots, in milliseconds. */
  rebootMs: number;
}

export const GUARD_TIMES: GuardTimes = {
  // Two checks a minute would be enough, but arming waits for the first one.
  tickSeconds: 5,
  pollMs: 3000,
  reachMs: 15_000,
  marginSeconds: 5,
  graceSeconds: 60,
  rebootMs: 30_000,
};

/** Longest wait for the first tick before the script may run, in ticks. */
const TICKS_WAITED = 4;
/** Wait for the router after the script and the guard, in milliseconds: enough for a slow boot. */
const GIVE_UP_MS = 15 * 60_000;
const WAIT = { result: 'wait', isOver: false } as const;
const POLICY = GUARD_POLICIES.join(',');

export interface GuardDeps extends Reach {
  router: RouterAdapter;
  menu: RouterMenu;
  clock: Clock;
  times: GuardTimes;
  backupTimes: BackupTimes;
  /** Time of one operation on the router, in milliseconds. */
  operationMs: number;
  signal: AbortSignal;
  /** Writes to the journal, before the router is touched, and again with the time from which the guard counts. */
  recordGuard: (boot: BootMark) => Promise<void>;
  /** Writes to the journal that the guard can no longer fire. */
  recordDisarmed: () => Promise<void>;
}

/**
 * The undo guard of one job. A scheduler entry on the router loads the restore point unless it is removed in time.
 * Invariants:
 * - the restore point is saved before the entry exists, so loading it removes the entry;
 * - only the restore point holds the script source `# job <id> undone`: found after BEGIN, it proves the load;
 * - the entry is removed only after a fresh session with the router and an answer of the control plane, and only while
 *   the load cannot have begun.
 */
export class UndoGuard {
  readonly #offer: StoredOffer;
  readonly #deps: GuardDeps;
  readonly #name: string;
  #boot: Moment | undefined;
  /** As this process armed it, or as its entry says. */
  #time: GuardTime | undefined;
  /** Since when the entry is known to have gone, by the clock's `monotonic`. */
  #goneSince: number | undefined;
  #version = '';
  #undoneSince: number | undefined;
  #mayFire: boolean;
  #removal: GuardRemoval | undefined;

  /** @param boot the journal's record of a guard that an earlier process began to arm; older than the guard if the disk was restored */
  constructor(offer: StoredOffer, boot: BootMark | undefined, deps: GuardDeps) {
    this.#offer = offer;
    this.#deps = deps;
    this.#name = guardNameOf(offer.job_id);
    this.#boot = boot && momentOfMark(boot, deps.clock);
    this.#mayFire = boot !== undefined;
  }

  /** The router may have an entry that restores it. */
  get mayFire(): boolean {
    return this.#mayFire;
  }

  /** Until the router undoes the script, milliseconds; undefined where this process has not armed it. */
  get firesInMs(): number | undefined {
    if (!this.#time || !this.#boot) return undefined;
    return Math.max(0, this.#time.allowed * 1000 - (this.#deps.clock.monotonic() - this.#boot.at));
  }

  /** Longest useful wait for the script, in milliseconds: by then the router has undone it. */
  get longestRunMs(): number {
    return (this.#allowed + 3 * this.#deps.times.tickSeconds) * 1000;
  }

  /**
   * True when an earlier process began to arm and no load can have happened since, so that its restore point does not prove a run. A
   * load reboots the router and removes the entry.
   */
  async isOwnPreparation(now: Moment): Promise<boolean> {
    if (this.#boot !== undefined && !hasRebooted(this.#boot, now)) return true;
    return (await this.#deps.menu.findEntry(this.#name, this.#operation())) !== undefined;
  }

  /**
   * Arms the guard. Resolves when the router has run the entry once.
   * @throws AgentError `rejected` when this router cannot be guarded
   */
  async arm(): Promise<void> {
    const { menu } = this.#deps;
    const { job_id: jobId } = this.#offer;
    try {
      this.#boot = await this.#recordBoot();
      await this.#refuseOther();
      await menu.removeEntry(this.#name, this.#operation());
      await menu.writeScript(scriptNameOf(jobId), undoneMarker(jobId), this.#operation());
      const file = await this.#saveRestorePoint();
      this.#boot = await this.#recordBoot();
      // The wait for the first tick does not count as the script's time.
      this.#time = recordedTime(this.#offer, this.#boot.mark, this.#deps.times);
      this.#mayFire = true;
      await menu.addEntry(this.#entry(file, this.#time), this.#operation());
      await this.#waitForTick();
      // Another agent with the same credentials may have armed one meanwhile: at least one of the two sees the other.
      await this.#refuseOther();
      if ((await menu.fileSize(file, this.#operation())) === undefined)
        throw new AgentError('rejected', `the restore point ${file} has gone`);
    } catch (error) {
      if (!(error instanceof AgentError) || error.code === 'router_unreachable' || error.code === 'outcome_unknown') throw error;
      const reason = await whyNotArmed(this.#deps.router, error, this.#operation());
      throw new AgentError('rejected', `the undo guard cannot be armed, nothing ran: ${reason}`, { cause: error });
    }
  }

  /**
   * Removes the guard of a script that has not run, also without a journal record.
   * @returns true when it was too late: the router has restored itself although there was nothing to undo
   * @throws AgentError `router_unreachable` while the router may be restoring itself
   */
  async disarm(): Promise<boolean> {
    const hasFired = await this.#hasFired();
    // Remove the script before the entry: while the entry exists, the mark does not prove a load.
    await this.#deps.menu.removeScript(scriptNameOf(this.#offer.job_id), this.#operation());
    this.#removal ??= new GuardRemoval(this.#deps.router, this.#offer.job_id, this.#deps.times, this.#recordedTime);
    await this.#removal.remove(this.#operation());
    this.#removal = undefined;
    if (this.#boot) await this.#deps.recordDisarmed();
    return hasFired;
  }

  get #recordedTime(): GuardTime | undefined {
    return this.#mayFire && this.#boot ? recordedTime(this.#offer, this.#boot.mark, this.#deps.times) : undefined;
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
   * Decides whether the script's changes stay.
   * @param verdict the outcome of the script itself
   */
  async confirm(verdict: JobResult): Promise<JobResult | 'wait'> {
    const { result, isOver } = await this.#examine(verdict);
    if (isOver && this.#boot) await this.#deps.recordDisarmed();
    return result;
  }

  /** `isOver`: the guard can no longer fire. */
  async #examine(verdict: JobResult): Promise<{ result: JobResult | 'wait'; isOver: boolean }> {
    const { router, menu, times, signal } = this.#deps;
    const facts = await router.refresh(this.#operation());
    this.#checkDevice(facts);
    const marker = readMarker(this.#offer.job_id, await menu.readScript(scriptNameOf(this.#offer.job_id), this.#operation()));
    if (marker.state === 'undone')
      return this.#isAboutToReboot(facts) ? WAIT : { result: rolledBack(verdict, this.#boot !== undefined), isOver: true };
    const entry = await menu.findEntry(this.#name, this.#operation());
    if (facts.uptimeSeconds === null) return WAIT;
    if (entry) {
      this.#time = uptimeSpanIn(entry.source);
      this.#goneSince = undefined;
    }
    const left = this.#time && secondsLeft(this.#time, facts.uptimeSeconds);
    if (!entry && this.#goneSince === undefined) {
      // What was read before may be older than a load.
      this.#goneSince = this.#deps.clock.monotonic();
      return this.#examine(verdict);
    }
    if (!entry) return this.#isLoadExcluded(left) ? { result: verdict, isOver: true } : WAIT;
    if (left === undefined) throw new AgentError('rejected', `somebody has changed the scheduler entry ${this.#name} of the undo guard`);
    if (left < -times.graceSeconds) return { result: notUndone(verdict), isOver: false };
    if (left <= times.marginSeconds || !(await reachesAll(this.#deps, { timeoutMs: times.reachMs, signal }))) return WAIT;
    await menu.removeEntry(this.#name, this.#operation());
    this.#goneSince ??= this.#deps.clock.monotonic();
    // Checked again: only an entry that was removed before its time cannot have fired.
    return this.#examine(verdict);
  }

  /** Without its entry: a load that had begun before the entry went would be over by now. @param left read after the entry had gone */
  #isLoadExcluded(left: number | undefined): boolean {
    const { clock, times } = this.#deps;
    if (left === undefined) return clock.monotonic() - this.#goneSince! >= times.graceSeconds * 1000;
    return left > 0 || left < -times.graceSeconds;
  }

  /**
   * @param begunAt when the script began, by the clock's `monotonic`
   * @returns the final result when it is too late to expect an answer of the router, otherwise undefined
   */
  giveUp(verdict: JobResult, begunAt: number): JobResult | undefined {
    const isLate = this.#deps.clock.monotonic() - begunAt > this.longestRunMs + GIVE_UP_MS;
    return isLate ? notUndone(verdict) : undefined;
  }

  get #allowed(): number {
    return this.#offer.undo_unless_reachable_seconds ?? 0;
  }

  #entry(file: string, time: GuardTime): NewEntry {
    return {
      name: this.#name,
      everySeconds: this.#deps.times.tickSeconds,
      startDate: dateFor(this.#version, '1970-01-01'),
      source: tickSource(this.#name, file, time),
      policy: POLICY,
    };
  }

  async #recordBoot(): Promise<Moment> {
    const facts = await this.#deps.router.refresh(this.#operation());
    this.#checkDevice(facts);
    this.#version = facts.softwareVersion;
    if (facts.uptimeSeconds === null) throw new AgentError('rejected', 'the uptime of the router cannot be read');
    const boot = momentNow(this.#deps.clock, Math.floor(facts.uptimeSeconds));
    await this.#deps.recordGuard(boot.mark);
    return boot;
  }

  /** Refuses if another guard is armed: this job's restore point would contain its entry. */
  async #refuseOther(): Promise<void> {
    const entries = await this.#deps.menu.listEntries(GUARD_PREFIX, this.#operation());
    const other = entries.find((name) => name !== this.#name);
    if (other !== undefined) throw new AgentError('rejected', `another guard is armed on this router (${other})`);
  }

  /** @returns the file's name, at which it survives a reboot */
  async #saveRestorePoint(): Promise<string> {
    const { menu, clock, signal, backupTimes: times } = this.#deps;
    const name = await targetOf(menu, this.#name, this.#operation());
    await menu.removeFile(`${name}.backup`, this.#operation());
    await menu.saveBackup(name, this.#operation());
    const pause = (ms: number): Promise<void> => sleep(clock, ms, signal);
    await waitForFile(menu, `${name}.backup`, { times, deadline: this.#operation(), pause });
    return `${name}.backup`;
  }

  /** Waits until the entry has run once: an entry may exist and never run. */
  async #waitForTick(): Promise<void> {
    const { menu, clock, signal, times } = this.#deps;
    for (let waited = 0; waited <= TICKS_WAITED * times.tickSeconds && !signal.aborted; waited += 1) {
      const entry = await menu.findEntry(this.#name, this.#operation());
      if (entry && entry.runCount > 0 && entry.nextRun !== '' && !entry.disabled) return;
      await sleep(clock, 1000, signal);
    }
    throw new AgentError('rejected', 'the router does not run its scheduler');
  }

  /** Between the load and the reboot the router still answers with the restored configuration. */
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
