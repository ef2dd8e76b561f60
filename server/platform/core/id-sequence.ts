import { randomUUID } from 'node:crypto';

/** Ids keep rising when the clock goes back by up to this much (NTP step, leap second); beyond it they use the new time. */
const LARGEST_STEP_BACK_MS = 1000;

/** The latest time in an id: 48 bits, less one second for milliseconds that the counter borrows. */
const LATEST_TIME = 2 ** 48 - 1 - LARGEST_STEP_BACK_MS;

/** The counter behind the time: 12 bits before the variant and 30 behind it. */
const COUNTER_END = 2 ** 42;
const LOW_BITS = 2 ** 30;

/** RFC 9562's variant, above the upper 14 of the lower bits. */
const VARIANT = 0x8000;

/**
 * Generates UUIDv7 (RFC 9562): 48 bits of time first, so that ids sort by creation and index pages fill in order. Each id is
 * greater than the one before it: after the time comes a counter (section 6.2, method 1) that starts at a random value in its
 * lower half, advances by a random step and borrows from the next millisecond when exhausted; 32 bits of every id are random.
 */
export class IdSequence {
  #time = Number.NEGATIVE_INFINITY;
  /** {@link #time} in hex, cached: almost every id shares it with the one before. */
  #timeDigits = '';
  #counter = 0;

  /** @param at milliseconds since 1970; see {@link idTime} for values out of range */
  next(at: number): string {
    const now = idTime(at);
    // Of a UUIDv4 the first 8 digits are random, and the last 12.
    const random = randomUUID();
    if (now > this.#time || this.#time - now > LARGEST_STEP_BACK_MS) {
      this.#setTime(now);
      this.#counter = Number.parseInt(random.slice(24, 34), 16) * 2;
    } else {
      this.#countOn(Number.parseInt(random.slice(24, 28), 16));
    }
    return `${this.#timeDigits}-7${counterDigits(this.#counter)}${random.slice(0, 8)}`;
  }

  #countOn(step: number): void {
    this.#counter += 1 + step;
    if (this.#counter < COUNTER_END) return;
    this.#counter -= COUNTER_END;
    this.#setTime(this.#time + 1);
  }

  #setTime(time: number): void {
    this.#time = time;
    this.#timeDigits = timeDigits(time);
  }
}

/**
 * The time stored in an id: whole milliseconds, clamped to the range of 1970 to the year 10889. Never throws: ids are made in
 * socket callbacks and for error reports, and a machine without a clock of its own must be reachable until it learns the time.
 */
export function idTime(at: number): number {
  // NaN also becomes 1970.
  return at >= 0 ? Math.min(Math.floor(at), LATEST_TIME) : 0;
}

/** The first digits of an id: a time from {@link idTime} in hex. */
export function timeDigits(time: number): string {
  const digits = time.toString(16).padStart(12, '0');
  return `${digits.slice(0, 8)}-${digits.slice(8)}`;
}

/** In pieces of 16 bits at most: numbers above 2^31 take V8 ten times as long to write in hex. */
function counterDigits(counter: number): string {
  const low = counter % LOW_BITS;
  return `${hex(Math.floor(counter / LOW_BITS), 3)}-${hex(VARIANT | (low >>> 16), 4)}-${hex(low & 0xffff, 4)}`;
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, '0');
}
