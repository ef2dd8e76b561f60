import type { Clock, Timer } from './clock.ts';
import type { Log } from './log.ts';
import { Periodic } from './periodic.ts';

/** Smaller differences come from NTP slewing or from the time between two readings; they are adopted at once. */
const LEAST_STEP_MS = 1000;
/** How often to check for a step. Until then, and while the database is unavailable, the process uses the time before the step. */
const LOOK_EVERY_MS = 1000;
/** `/proc/uptime` counts hundredths of a second. */
const BOOT_TIME_RESOLUTION_MS = 20;

/**
 * Shifts all stored due times that stand for a wait, atomically.
 * @param stepMs how far the wall clock was set; positive is ahead
 * @param now the time of the step, on the clock before the step
 */
export type MovePlans = (stepMs: number, now: number) => Promise<void>;

/**
 * The wall clock of the control plane. When the machine's clock is set, stored due times are shifted first, and only then is the
 * new time adopted. So a retry in five minutes comes in five minutes, and no row is compared with a clock other than the one
 * it was planned by. Timers and `monotonic` are not affected by setting the clock.
 */
export class AdoptedClock implements Clock {
  readonly #machine: Clock;
  readonly #sinceBoot: () => number;
  /** Time since boot minus monotonic time: grows with each suspend. */
  #suspended: number;
  /** Adopted offset: wall time minus monotonic time. */
  #offset: number;
  #looks: Periodic | undefined;

  /**
   * @param sinceBoot milliseconds that also count while the machine is suspended, so that a suspend is not a step. Asked only when the
   * clocks differ: `os.uptime` reads a file, which takes a hundred times as long as `monotonic`
   */
  constructor(machine: Clock, sinceBoot: () => number = () => machine.monotonic()) {
    this.#machine = machine;
    this.#sinceBoot = sinceBoot;
    this.#suspended = sinceBoot() - machine.monotonic();
    this.#offset = machine.now() - this.#elapsed;
  }

  now(): number {
    return this.#step === 0 ? this.#machine.now() : Math.round(this.#elapsed + this.#offset);
  }

  monotonic(): number {
    return this.#machine.monotonic();
  }

  setTimeout(callback: () => void, ms: number): Timer {
    return this.#machine.setTimeout(callback, ms);
  }

  /** Starts following steps. A failed shift is retried at the next check. */
  follow(move: MovePlans, log: Log): void {
    this.#looks = new Periodic({
      clock: this.#machine,
      log,
      everyMs: LOOK_EVERY_MS,
      failure: 'the clock of this machine was set, but stored due times could not be shifted yet',
      level: 'error',
      run: async () => {
        const stepMs = await this.adopt(move);
        if (stepMs !== 0) log.warn({ duration_ms: stepMs }, 'the clock of this machine was set; stored due times were shifted accordingly');
      },
    });
    this.#looks.start();
  }

  async stop(): Promise<void> {
    await this.#looks?.stop();
  }

  /** Checks for a step. @returns the adopted step, 0 for none @throws what `move` throws; then nothing is adopted */
  async adopt(move: MovePlans): Promise<number> {
    const stepMs = this.#step;
    if (stepMs === 0) return 0;
    await move(stepMs, this.now());
    this.#offset += stepMs;
    return stepMs;
  }

  /** Milliseconds since an arbitrary point, suspends included. */
  get #elapsed(): number {
    return this.#machine.monotonic() + this.#suspended;
  }

  /** The step that is not adopted yet, whole milliseconds; adopts differences too small for a step. */
  get #step(): number {
    let step = this.#difference;
    if (Math.abs(step) >= LEAST_STEP_MS) {
      this.#noticeSuspend();
      step = this.#difference;
    }
    if (Math.abs(step) >= LEAST_STEP_MS) return Math.round(step);
    this.#offset += step;
    return 0;
  }

  #noticeSuspend(): void {
    const suspended = this.#sinceBoot() - this.#machine.monotonic();
    if (Math.abs(suspended - this.#suspended) > BOOT_TIME_RESOLUTION_MS) this.#suspended = suspended;
  }

  get #difference(): number {
    return this.#machine.now() - this.#elapsed - this.#offset;
  }
}
