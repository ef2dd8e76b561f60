import type { Clock } from './clock.ts';

/** Smaller differences are what NTP slews and what passes between two readings. */
const LEAST_STEP_MS = 1000;

/**
 * Notices that somebody set the wall clock: it moved otherwise than elapsed time did. For plans that are stored as moments and
 * mean a wait, which a step would stretch or cut.
 */
export class ClockSteps {
  readonly #clock: Clock;
  #offset: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#offset = this.#read();
  }

  /** Milliseconds that the wall clock was set since the last call, ahead is positive; 0 when it was not. */
  take(): number {
    const offset = this.#read();
    const step = offset - this.#offset;
    this.#offset = offset;
    return Math.abs(step) < LEAST_STEP_MS ? 0 : step;
  }

  #read(): number {
    return this.#clock.now() - this.#clock.monotonic();
  }
}
