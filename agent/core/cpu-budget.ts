import { performance } from 'node:perf_hooks';

/**
 * Time that reading from one router may take in one go, in milliseconds. The largest answers that the agent takes, 16 MB, need
 * 150 to 300 ms: they are read as fast as they come, once.
 */
const BURST_MS = 200;
/** A router that this process hears for the first time has not saved anything up: its inventory takes a few milliseconds. */
const FIRST_MS = 30;
/** What a router gets back of it for every second that passes: readings of health and devices take about 3 ms a second at most. */
const REFILL_MS_PER_SECOND = 10;

/**
 * After what a router in debt has cost, everybody else has the event loop for so many times as long: one such router takes a
 * fifth of the time, any number of them no more than a tenth.
 */
const LEAST_PAUSE = 4;
const MOST_PAUSE = 9;

export interface BudgetClock {
  /** Monotonic, in milliseconds. */
  now(): number;
  setTimeout(callback: () => void, ms: number): void;
}

const systemClock: BudgetClock = { now: () => performance.now(), setTimeout: (callback, ms) => void setTimeout(callback, ms) };

/**
 * What reading from routers may cost. Everything that a router says is parsed in the one thread that serves all of them, so a
 * router that never stops talking would slow down its neighbours. Each may use some time as it likes; one that has used it up
 * waits in a queue of all such routers, of which one is read at a time.
 */
export class CpuBudgets {
  readonly #clock: BudgetClock;
  readonly #budgets = new Map<string, RouterCpuBudget>();
  readonly #waiting: Wait[] = [];
  #isTurnPlanned = false;
  /** Milliseconds that the last one of the queue has cost. */
  #lastCost = 1;

  constructor(clock: BudgetClock = systemClock) {
    this.#clock = clock;
  }

  /** The same for every connection to a router: one that comes again and again gets no new time by that. */
  budgetOf(router: string): RouterCpuBudget {
    let budget = this.#budgets.get(router);
    if (!budget) {
      budget = new RouterCpuBudget(this.#clock, (wait) => this.#wait(wait));
      this.#budgets.set(router, budget);
    }
    return budget;
  }

  #wait(wait: Wait): void {
    this.#lastCost = Math.max(1, wait.budget.lastCost);
    this.#waiting.push(wait);
    this.#planTurn();
  }

  #planTurn(): void {
    if (this.#isTurnPlanned || this.#waiting.length === 0) return;
    this.#isTurnPlanned = true;
    const pause = Math.min(MOST_PAUSE, LEAST_PAUSE + this.#waiting.length - 1);
    this.#clock.setTimeout(() => {
      this.#isTurnPlanned = false;
      this.#waiting.shift()?.readOn();
      // Its bytes come in a turn of their own, and it asks again if there are more.
      this.#planTurn();
    }, this.#lastCost * pause);
  }
}

interface Wait {
  budget: RouterCpuBudget;
  readOn: () => void;
}

/** The time of one router. */
export class RouterCpuBudget {
  /** Milliseconds that its last turn has cost. */
  lastCost = 0;
  readonly #clock: BudgetClock;
  readonly #wait: (wait: Wait) => void;
  #left = FIRST_MS;
  #refilledAt: number;

  constructor(clock: BudgetClock, wait: (wait: Wait) => void) {
    this.#clock = clock;
    this.#wait = wait;
    this.#refilledAt = clock.now();
  }

  /** Something of this router took so many milliseconds. */
  spend(ms: number): void {
    const now = this.#clock.now();
    const refill = ((now - this.#refilledAt) / 1000) * REFILL_MS_PER_SECOND;
    this.#left = Math.min(BURST_MS, this.#left + refill) - ms;
    // One long turn, of a process that had to wait for a processor, is forgiven after some seconds.
    this.#left = Math.max(this.#left, -FIRST_MS);
    this.#refilledAt = now;
    this.lastCost = ms;
  }

  /** It has used its time up: who reads from it asks {@link whenNext}. */
  get isSpent(): boolean {
    return this.#left < 0;
  }

  /** Calls back once when it may be read on. */
  whenNext(readOn: () => void): void {
    this.#wait({ budget: this, readOn });
  }
}

/** One for the process, because what all routers say passes through one event loop. */
export const cpuBudgets = new CpuBudgets();
