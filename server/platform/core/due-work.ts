import { FairShares } from '../../../runtime/fair-shares.ts';
import type { Holder, ShareLimits } from '../../../runtime/fair-shares.ts';
import { chooseFairly } from './choose-fairly.ts';
import type { Clock, Timer } from './clock.ts';
import type { Log } from './log.ts';

export interface DueWorkDeps<Due extends { id: string }, Claimed extends { id: string }> {
  clock: Clock;
  log: Log;
  /** Items at the same time: in total, per team, and per member of a team. */
  atOnce: ShareLimits;
  /** Fallback for missed wake-ups: items of another process, expired claims. Milliseconds. */
  pollMs: number;
  /** Time for items in progress when this process stops, milliseconds. */
  stopWithinMs: number;
  /** The log message when items could not be read. */
  failure: string;
  /** Runs before each pass. */
  prepare?: () => Promise<void>;
  /** Items that may run now, some more than may run at once; none for busy parties and members. */
  selectDue: (now: number, shares: FairShares) => Promise<readonly Due[]>;
  holderOf: (due: Due) => Holder;
  /** Claims items in the database. Those that another process has claimed are left out. */
  claim: (chosen: readonly Due[], now: number) => Promise<readonly Claimed[]>;
  /** Runs a claimed item and records its result. Must not reject. */
  run: (claimed: Claimed, stop: AbortSignal) => Promise<void>;
  /** When the next item falls due after a time; null for none. */
  selectNextDue: (now: number) => Promise<number | null>;
}

/**
 * Runs items that fall due in the database, each by the process that holds its claim. Callers, due times and a slow poll wake it. Nothing
 * here is durable; the claims of a killed process expire.
 */
export class DueWork<Due extends { id: string }, Claimed extends { id: string }> {
  readonly #deps: DueWorkDeps<Due, Claimed>;
  /** Items in progress. */
  readonly shares: FairShares;
  readonly #running = new Set<Promise<void>>();
  readonly #stop = new AbortController();
  #timer: Timer | undefined;
  #pass: Promise<void> | undefined;
  #wakeAgain = false;
  #stopped = false;

  constructor(deps: DueWorkDeps<Due, Claimed>) {
    this.#deps = deps;
    this.shares = new FairShares(deps.atOnce);
  }

  /** Checks for due items, now or after the current pass. */
  wake(): void {
    if (this.#stopped) return;
    this.#wakeAgain = true;
    this.#pass ??= this.#runPass();
  }

  /** Resolves when nothing runs and no pass is in progress. */
  async idle(): Promise<void> {
    while (this.#pass || this.#running.size > 0) {
      await this.#pass;
      await Promise.all(this.#running);
    }
  }

  /** Starts nothing new, gives items in progress a short time, then aborts them: aborted items do not count. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.cancel();
    await this.#pass;
    const cutOff = setTimeout(() => this.#stop.abort(), this.#deps.stopWithinMs);
    await Promise.all(this.#running);
    clearTimeout(cutOff);
  }

  /** Never rejects. */
  async #runPass(): Promise<void> {
    const { log, failure } = this.#deps;
    while (this.#wakeAgain && !this.#stopped) {
      this.#wakeAgain = false;
      this.#timer?.cancel();
      const next = await this.#startDue().catch((error: unknown) => {
        log.error({ err: error }, failure);
        return null;
      });
      this.#wakeAt(next);
    }
    this.#pass = undefined;
  }

  /** Schedules the next pass at the given time, which may already have passed, and at the latest after the poll interval. */
  #wakeAt(next: number | null): void {
    if (this.#stopped) return;
    const { clock, pollMs } = this.#deps;
    const wait = next === null ? pollMs : Math.min(next - clock.now(), pollMs);
    if (wait <= 0) this.#wakeAgain = true;
    else this.#timer = clock.setTimeout(() => this.wake(), wait);
  }

  /** Starts all items that are possible now. @returns time at which the next one falls due */
  async #startDue(): Promise<number | null> {
    const { clock, prepare, selectDue, holderOf, selectNextDue } = this.#deps;
    await prepare?.();
    let checkedAt = clock.now();
    for (;;) {
      if (this.shares.taken >= this.shares.limits.total || this.#stopped) break;
      checkedAt = clock.now();
      const due = await selectDue(checkedAt, this.shares);
      // Stopped while it was read.
      if (this.#stopped) break;
      const started = await this.#claim(chooseFairly(this.shares, due, holderOf));
      // Nothing is due, or another process was faster.
      if (started === 0) break;
    }
    return selectNextDue(checkedAt);
  }

  /** Claims items and starts them. @returns the number claimed */
  async #claim(chosen: readonly Due[]): Promise<number> {
    if (chosen.length === 0) return 0;
    const { clock, claim, holderOf } = this.#deps;
    let claimed: readonly Claimed[] = [];
    try {
      claimed = await claim(chosen, clock.now());
    } finally {
      const ids = new Set(claimed.map(({ id }) => id));
      for (const due of chosen) if (!ids.has(due.id)) this.shares.giveBack(holderOf(due));
    }
    const holders = new Map(chosen.map((due) => [due.id, holderOf(due)]));
    for (const item of claimed) {
      const running = this.#run(item, holders.get(item.id)!).finally(() => this.#running.delete(running));
      this.#running.add(running);
    }
    return claimed.length;
  }

  async #run(item: Claimed, holder: Holder): Promise<void> {
    try {
      await this.#deps.run(item, this.#stop.signal);
    } finally {
      this.shares.giveBack(holder);
      this.wake();
    }
  }
}
