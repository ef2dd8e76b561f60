/** 0 <= x < 1. */
export type Random = () => number;

/** The same numbers for the same seed (mulberry32), so that a fleet and what it does can be repeated. */
export function seeded(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** @param items not empty */
export function pick<T>(random: Random, items: readonly T[]): T {
  return items[Math.floor(random() * items.length)]!;
}

/** @returns a whole number from `from` to `to`, both included */
export function between(random: Random, from: number, to: number): number {
  return from + Math.floor(random() * (to - from + 1));
}

/** @param alphabet letters and digits of ASCII */
export function letters(random: Random, count: number, alphabet: string): string {
  return Array.from({ length: count }, () => alphabet.charAt(Math.floor(random() * alphabet.length))).join('');
}
