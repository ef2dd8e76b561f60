/** A token bucket as a row. Pure. */

export interface Bucket {
  tokens: number;
  at: number;
  stoppedUntil: number | null;
  /** The account was refused: until then one message tries it, and after that the next; null: it was not. */
  probingUntil: number | null;
}

/** An attempt with its record is over by then: the lifetime of a claim. */
export const PROBE_MS = 60_000;
/** How soon the others look whether the one that tries the account has arrived. */
export const LOOK_MS = 5000;

export interface Rate {
  perSecond: number;
  burst: number;
}

export interface Taken {
  bucket: Bucket;
  granted: number;
  /** When the next one can be taken. */
  nextAt: number;
  /** Not our rate holds it up: the provider has asked for a pause, or refuses the account. */
  isPaused: boolean;
}

/** Takes up to `wanted` tokens. A stopped bucket gives none; a clock that was set back neither fills nor blocks it. */
export function takeTokens(bucket: Bucket | undefined, rate: Rate, wanted: number, now: number): Taken {
  const before = bucket ?? { tokens: rate.burst, at: now, stoppedUntil: null, probingUntil: null };
  const elapsed = Math.max(0, now - before.at);
  const full = Math.min(rate.burst, before.tokens + (elapsed * rate.perSecond) / 1000);
  const waiting = { ...before, tokens: full, at: now };
  const { stoppedUntil, probingUntil } = before;
  if (stoppedUntil !== null && stoppedUntil > now) return { bucket: waiting, granted: 0, nextAt: stoppedUntil, isPaused: true };
  const free = { ...waiting, stoppedUntil: null };
  const isPaused = probingUntil !== null;
  if (isPaused && probingUntil > now) return { bucket: free, granted: 0, nextAt: Math.min(probingUntil, now + LOOK_MS), isPaused };
  // Fractions of a token add up with rounding errors.
  const granted = Math.min(isPaused ? 1 : wanted, wanted, Math.floor(full + 1e-6));
  const tokens = Math.max(0, full - granted);
  const left = { ...free, tokens };
  if (isPaused && granted > 0) return { bucket: { ...left, probingUntil: now + PROBE_MS }, granted, nextAt: now + LOOK_MS, isPaused };
  const nextAt = tokens >= 1 ? now : now + Math.ceil(((1 - tokens) * 1000) / rate.perSecond);
  return { bucket: left, granted, nextAt, isPaused };
}
