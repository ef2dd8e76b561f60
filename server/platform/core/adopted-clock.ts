import type { Clock, Timer } from './clock.ts';
import type { Log } from './log.ts';
import { Periodic } from './periodic.ts';

/** Smaller differences are what NTP slews and what passes between two readings: they are adopted at once. */
const LEAST_STEP_MS = 1000;
/** How often a step is looked for. Until then, and while the database is away, the process goes by the time from before the step. */
const LOOK_EVERY_MS = 1000;

/**
 * Moves what is stored as a moment and means a wait, all of it or nothing.
 * @param stepMs what the wall clock was set by, ahead is positive
 * @param now the moment of the step, by the time from before it
 */
export type MovePlans = (stepMs: number, now: number) => Promise<void>;

/**
 * The wall clock as the control plane goes by it. When somebody sets the machine's clock, stored plans are moved along first and only
 * then the new time is adopted. So a retry in five minutes comes in five minutes, and no row is ever compared with a
 * clock by which it was not planned. Timers and `monotonic` are the machine's: nobody sets those.
 */
export class AdoptedClock implements Clock {
  readonly #machine: Clock;
  readonly #elapsed: () => number;
  /** Wall time minus elapsed time, as adopted. */
  #offset: number;
  #looks: Periodic | undefined;

  /** @param elapsed milliseconds that also count while the machine is suspended: sleeping is no step */
  constructor(machine: Clock, elapsed: () => number = () => machine.monotonic()) {
    this.#machine = machine;
    this.#elapsed = elapsed;
    this.#offset = machine.now() - elapsed();
  }

  now(): number {
    return this.#step === 0 ? this.#machine.now() : Math.round(this.#elapsed() + this.#offset);
  }

  monotonic(): number {
    return this.#machine.monotonic();
  }

  setTimeout(callback: () => void, ms: number): Timer {
    return this.#machine.setTimeout(callback, ms);
  }

  /** From here on steps are followed. A failed move is tried again with the next look. */
  follow(move: MovePlans, log: Log): void {
    this.#looks = new Periodic({
      clock: this.#machine,
      log,
      everyMs: LOOK_EVERY_MS,
      failure: 'the clock of this machine was set, and waits could not be moved along yet',
      level: 'error',
      run: async () => {
        const stepMs = await this.adopt(move);
        if (stepMs !== 0) log.warn({ duration_ms: stepMs }, 'the clock of this machine was set; whatever waits keeps its wait');
      },
    });
    this.#looks.start();
  }

  async stop(): Promise<void> {
    await this.#looks?.stop();
  }

  /** Looks for a step. @returns what it adopted, 0 for nothing @throws what `move` throws; then nothing is adopted */
  async adopt(move: MovePlans): Promise<number> {
    const stepMs = this.#step;
    if (stepMs === 0) return 0;
    await move(stepMs, this.now());
    this.#offset += stepMs;
    return stepMs;
  }

  /** What the machine's clock was set by and is not adopted yet, whole milliseconds; takes in what is too small to be a step. */
  get #step(): number {
    const step = this.#machine.now() - this.#elapsed() - this.#offset;
    if (Math.abs(step) >= LEAST_STEP_MS) return Math.round(step);
    this.#offset += step;
    return 0;
  }
}
