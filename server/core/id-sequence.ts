import { randomUUID } from 'node:crypto';

/** A clock may go back so far (a step of NTP, a leap second) and ids rise all the same; further back they tell the new time. */
const LARGEST_STEP_BACK_MS = 1000;

/** The counter behind the time: 12 bits before the variant and 30 behind it. */
const COUNTER_END = 2 ** 42;
const LOW_BITS = 2 ** 30;

/**
 * Makes UUIDv7 (RFC 9562): 48 bits of time first, so that ids sort by creation and index pages fill in order. Each id is
 * greater than the one before it: behind the time stands a counter (section 6.2, method 1) that begins anywhere in its lower
 * half, goes on by a random step and lends from the next millisecond when it is used up; 32 bits are random in every id.
 */
export class IdSequence {
  #time = Number.NEGATIVE_INFINITY;
  #counter = 0;

  /** @param now milliseconds since 1970 */
  next(now: number): string {
    // Of a UUIDv4 the first 8 digits are random, and the last 12.
    const random = randomUUID();
    if (now > this.#time || this.#time - now > LARGEST_STEP_BACK_MS) {
      this.#time = now;
      this.#counter = Number.parseInt(random.slice(24, 34), 16) * 2;
    } else {
      this.#countOn(Number.parseInt(random.slice(24, 28), 16));
    }
    return format(this.#time, this.#counter, random.slice(0, 8));
  }

  #countOn(step: number): void {
    this.#counter += 1 + step;
    if (this.#counter < COUNTER_END) return;
    this.#counter -= COUNTER_END;
    this.#time += 1;
  }
}

function format(time: number, counter: number, tail: string): string {
  const digits = time.toString(16).padStart(12, '0');
  const high = Math.floor(counter / LOW_BITS).toString(16).padStart(3, '0');
  const low = (2 * LOW_BITS + (counter % LOW_BITS)).toString(16);
  return `${digits.slice(0, 8)}-${digits.slice(8)}-7${high}-${low.slice(0, 4)}-${low.slice(4)}${tail}`;
}
