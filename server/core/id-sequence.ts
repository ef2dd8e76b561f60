import { randomUUID } from 'node:crypto';

/** A clock may go back so far (a step of NTP, a leap second) and ids rise all the same; further back they tell the new time. */
const LARGEST_STEP_BACK_MS = 1000;
/** What follows the time: 12 bits, 2 bits of the variant, 62 bits. */
const RANDOM_MASK = (1n << 74n) - 1n;

/**
 * Makes UUIDv7 (RFC 9562): 48 bits of time first, so that ids sort by creation and index pages fill in order. Each id is
 * greater than the one before it: within a millisecond the random part counts on by a random step (section 6.2, method 2),
 * and a time that is used up borrows from the next one.
 */
export class IdSequence {
  #time = Number.NEGATIVE_INFINITY;
  #last = '';

  /** @param now milliseconds since 1970 */
  next(now: number): string {
    const isAnew = now > this.#time || this.#time - now > LARGEST_STEP_BACK_MS;
    if (isAnew) {
      this.#time = now;
      this.#last = format(now, randomUUID().slice(15));
    } else {
      this.#countOn();
    }
    return this.#last;
  }

  #countOn(): void {
    // Of a UUIDv4, the first 8 digits are random: up to 2^32, so that the next id cannot be told from this one.
    const step = BigInt(`0x${randomUUID().slice(0, 8)}`) + 1n;
    const random = randomOf(this.#last) + step;
    if (random > RANDOM_MASK) this.#time += 1;
    this.#last = format(this.#time, restOf(random & RANDOM_MASK));
  }
}

function format(time: number, rest: string): string {
  const digits = time.toString(16).padStart(12, '0');
  return `${digits.slice(0, 8)}-${digits.slice(8)}-7${rest}`;
}

/** The 74 random bits of an id. */
function randomOf(id: string): bigint {
  const low = BigInt(`0x${id.slice(19, 23)}${id.slice(24)}`) & ((1n << 62n) - 1n);
  return (BigInt(`0x${id.slice(15, 18)}`) << 62n) | low;
}

/** The inverse of {@link randomOf}: what follows the version digit. */
function restOf(random: bigint): string {
  const high = (random >> 62n).toString(16).padStart(3, '0');
  const low = ((2n << 62n) | (random & ((1n << 62n) - 1n))).toString(16);
  return `${high}-${low.slice(0, 4)}-${low.slice(4)}`;
}
