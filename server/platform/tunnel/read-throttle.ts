import type { Clock, Timer } from '../core/clock.ts';
import type { AgentBudget } from './budget.ts';
import type { LoopTime, DeferredWork } from './loop-time.ts';
import type { ReadGate } from './read-gate.ts';

/** Messages handled before the next waiting tunnel has its turn: a fraction of a millisecond. */
const MESSAGES_AT_ONCE = 32;

export interface ReadThrottleDeps {
  budget: AgentBudget;
  loopTime: LoopTime;
  readGate: ReadGate;
  clock: Clock;
  /** Handles one message. Must not throw. */
  handle(text: string): void;
  /** The agent has used up its budget; reading pauses for this long. */
  onHeld(ms: number): void;
}

/**
 * Throttles reading from one tunnel to its agent's budget and its share of event-loop time. Messages beyond that are queued in order
 * (64 kB and one message at most, because the socket is paused at once) and handled in later event-loop turns.
 */
export class ReadThrottle implements DeferredWork {
  readonly #deps: ReadThrottleDeps;
  #backlog: string[] = [];
  #isQueued = false;
  #budgetTimer: Timer | undefined;
  #onEmpty: (() => void) | undefined;
  #readStartedAt = 0;
  /** Time of the current read that is already charged, milliseconds. */
  #chargedMs = 0;

  constructor(deps: ReadThrottleDeps) {
    this.#deps = deps;
  }

  /** Call before received bytes are parsed. */
  beginRead(): void {
    this.#readStartedAt = this.#deps.clock.monotonic();
    this.#chargedMs = 0;
  }

  /** Call after they were parsed: pings and fragments also cost time. */
  endRead(bytes: number): void {
    const now = this.#deps.clock.monotonic();
    this.#charge({ bytes, ms: now - this.#readStartedAt - this.#chargedMs }, now);
    if (this.#deps.loopTime.isUsedUp) this.#queue();
  }

  /** Handles or queues a message. */
  take(text: string): void {
    if (this.#backlog.length > 0 || this.#deps.loopTime.isUsedUp) {
      this.#backlog.push(text);
      this.#queue();
      return;
    }
    this.#chargedMs += this.#handle(text);
  }

  /** Counts a ping as a message. */
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
    this.#deps.readGate.release('turn');
    this.#onEmpty?.();
    return false;
  }

  /** Calls back when all received messages have been handled, now or later. */
  whenEmpty(callback: () => void): void {
    if (this.#backlog.length === 0) callback();
    else this.#onEmpty = callback;
  }

  /** Drops queued messages. */
  stop(): void {
    this.#backlog = [];
    this.#budgetTimer?.cancel();
    this.#budgetTimer = undefined;
    for (const reason of ['turn', 'budget']) this.#deps.readGate.release(reason);
  }

  /** @returns its duration, milliseconds */
  #handle(text: string): number {
    const { clock } = this.#deps;
    const startedAt = clock.monotonic();
    this.#deps.handle(text);
    const now = clock.monotonic();
    this.#charge({ messages: 1, ms: now - startedAt }, now);
    return now - startedAt;
  }

  #charge(spent: { messages?: number; bytes?: number; ms?: number }, now: number): void {
    const { budget, loopTime } = this.#deps;
    budget.spend(spent, now);
    if (spent.ms !== undefined) loopTime.spend(spent.ms);
    const waitMs = budget.waitMs(now);
    if (waitMs > 0 && !this.#budgetTimer) this.#hold(waitMs);
  }

  #hold(ms: number): void {
    const { readGate, clock } = this.#deps;
    readGate.hold('budget');
    this.#deps.onHeld(ms);
    this.#budgetTimer = clock.setTimeout(() => this.#release(), ms);
  }

  #release(): void {
    this.#budgetTimer = undefined;
    const waitMs = this.#deps.budget.waitMs(this.#deps.clock.monotonic());
    if (waitMs > 0) this.#hold(waitMs);
    else this.#deps.readGate.release('budget');
  }

  /** Pauses reading until its turn comes. */
  #queue(): void {
    if (this.#isQueued) return;
    this.#isQueued = true;
    this.#deps.readGate.hold('turn');
    this.#deps.loopTime.wait(this);
  }
}
