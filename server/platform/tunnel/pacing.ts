import type { Clock, Timer } from '../core/clock.ts';
import type { AgentBudget } from './budget.ts';
import type { Turns, Waiting } from './turns.ts';
import type { Valve } from './valve.ts';

/** Messages handled one after the other before the loop is given to the next tunnel that waits: a fraction of a millisecond. */
const MESSAGES_AT_ONCE = 32;

export interface PacingDeps {
  budget: AgentBudget;
  turns: Turns;
  valve: Valve;
  clock: Clock;
  /** Handles one message. Must not throw. */
  handle(text: string): void;
  /** The agent has used up its budget and is not read for so long. */
  onHeld(ms: number): void;
}

/**
 * Reads one tunnel at the pace that its agent's budget and the turns of the event loop allow. What a read brings beyond that is kept
 * in order (64 kB and one message at most, because the socket is paused at once) and handled in later turns.
 */
export class Pacing implements Waiting {
  readonly #deps: PacingDeps;
  #backlog: string[] = [];
  #isQueued = false;
  #budgetTimer: Timer | undefined;
  #onEmpty: (() => void) | undefined;
  #readStartedAt = 0;
  /** Of the running read, charged already. */
  #chargedMs = 0;

  constructor(deps: PacingDeps) {
    this.#deps = deps;
  }

  /** Bytes have come and are about to be parsed. */
  beginRead(): void {
    this.#readStartedAt = this.#deps.clock.monotonic();
    this.#chargedMs = 0;
  }

  /** They have been parsed: pings and fragments, of which nobody hears, cost time too. */
  endRead(bytes: number): void {
    const now = this.#deps.clock.monotonic();
    this.#charge({ bytes, ms: now - this.#readStartedAt - this.#chargedMs }, now);
    if (this.#deps.turns.isOver) this.#queue();
  }

  /** A message came. */
  take(text: string): void {
    if (this.#backlog.length > 0 || this.#deps.turns.isOver) {
      this.#backlog.push(text);
      this.#queue();
      return;
    }
    this.#chargedMs += this.#handle(text);
  }

  /** Something came that is no message: a ping. */
  count(): void {
    this.#charge({ messages: 1 }, this.#deps.clock.monotonic());
  }

  work(): boolean {
    this.#isQueued = false;
    const batch = this.#backlog.splice(0, MESSAGES_AT_ONCE);
    for (const text of batch) this.#handle(text);
    if (this.#backlog.length > 0) {
      this.#isQueued = true;
      return true;
    }
    this.#deps.valve.release('turn');
    this.#onEmpty?.();
    return false;
  }

  /** Calls back when everything that came has been handled, now or later. */
  whenEmpty(callback: () => void): void {
    if (this.#backlog.length === 0) callback();
    else this.#onEmpty = callback;
  }

  /** Forgets what waits. */
  stop(): void {
    this.#backlog = [];
    this.#budgetTimer?.cancel();
    this.#budgetTimer = undefined;
    for (const reason of ['turn', 'budget']) this.#deps.valve.release(reason);
  }

  /** @returns how long it took, milliseconds */
  #handle(text: string): number {
    const { clock } = this.#deps;
    const startedAt = clock.monotonic();
    this.#deps.handle(text);
    const now = clock.monotonic();
    this.#charge({ messages: 1, ms: now - startedAt }, now);
    return now - startedAt;
  }

  #charge(spent: { messages?: number; bytes?: number; ms?: number }, now: number): void {
    const { budget, turns } = this.#deps;
    budget.spend(spent, now);
    if (spent.ms !== undefined) turns.spend(spent.ms);
    const waitMs = budget.waitMs(now);
    if (waitMs > 0 && !this.#budgetTimer) this.#hold(waitMs);
  }

  #hold(ms: number): void {
    const { valve, clock } = this.#deps;
    valve.hold('budget');
    this.#deps.onHeld(ms);
    this.#budgetTimer = clock.setTimeout(() => this.#release(), ms);
  }

  #release(): void {
    this.#budgetTimer = undefined;
    const waitMs = this.#deps.budget.waitMs(this.#deps.clock.monotonic());
    if (waitMs > 0) this.#hold(waitMs);
    else this.#deps.valve.release('budget');
  }

  /** Not read until its turn has come. */
  #queue(): void {
    if (this.#isQueued) return;
    this.#isQueued = true;
    this.#deps.valve.hold('turn');
    this.#deps.turns.wait(this);
  }
}
