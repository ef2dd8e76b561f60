import { performance } from 'node:perf_hooks';

/**
 * Processor time that a router may save up, in milliseconds. The largest answers that the agent accepts, 16 MB, need 150 to
 * 300 ms: one such answer is read at full speed.
 */
const BURST_MS = 200;
/** Initial budget of a router: its inventory takes a few milliseconds. */
const FIRST_MS = 30;
/** Refill of the budget per second: reading health and devices takes at most about 3 ms a second. */
const REFILL_MS_PER_SECOND = 10;

/**
 * After each turn of a router without budget, the event loop is free for this multiple of the turn's cost: one such router takes
 * a fifth of the time, and any number of them at most a tenth.
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
 * CPU budgets for parsing what routers send. One thread parses the data of all routers, so a router that never stops sending would
 * slow down the others. Each router has a budget; routers without budget wait in a queue and are read one at a time.
 */
export class CpuBudgets {
  readonly #clock: BudgetClock;
  readonly #budgets = new Map<string, RouterCpuBudget>();
  readonly #waiting: Wait[] = [];
  #isTurnPlanned = false;
  /** Cost of the last turn, in milliseconds. */
  #lastCost = 1;

  constructor(clock: BudgetClock = systemClock) {
    this.#clock = clock;
  }

  /** One budget for all connections to a router, so that reconnecting gives no new one. */
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
      // Its bytes arrive in a turn of their own, and it asks again if there are more.
      this.#planTurn();
    }, this.#lastCost * pause);
  }
}

interface Wait {
  budget: RouterCpuBudget;
  readOn: () => void;
}

/** The budget of one router. */
export class RouterCpuBudget {
  /** Cost of its last turn, in milliseconds. */
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

  /** Deducts `ms` milliseconds of processor time. */
  spend(ms: number): void {
    const now = this.#clock.now();
    const refill = ((now - this.#refilledAt) / 1000) * REFILL_MS_PER_SECOND;
    this.#left = Math.min(BURST_MS, this.#left + refill) - ms;
    // Limited, so that one long turn of a process that waited for a processor is made up after some seconds.
    this.#left = Math.max(this.#left, -FIRST_MS);
    this.#refilledAt = now;
    this.lastCost = ms;
  }

  /** The budget is used up: the reader must wait for {@link whenNext}. */
  get isSpent(): boolean {
    return this.#left < 0;
  }

  /** Calls back once when the router may be read again. */
  whenNext(readOn: () => void): void {
    this.#wait({ budget: this, readOn });
  }
}

/** One for the process, because one event loop reads all routers. */
export const cpuBudgets = new CpuBudgets();
