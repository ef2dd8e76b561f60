/** A token bucket as a row. Pure. */

export interface Bucket {
  tokens: number;
  at: number;
  stoppedUntil: number | null;
}

export interface Rate {
  perSecond: number;
  burst: number;
}

export interface Taken {
  bucket: Bucket;
  granted: number;
  /** When the next one can be taken. */
  nextAt: number;
}

/** Takes up to `wanted` tokens. A stopped bucket gives none; a clock that was set back neither fills nor blocks it. */
export function takeTokens(bucket: Bucket | undefined, rate: Rate, wanted: number, now: number): Taken {
  const before = bucket ?? { tokens: rate.burst, at: now, stoppedUntil: null };
  const elapsed = Math.max(0, now - before.at);
  const full = Math.min(rate.burst, before.tokens + (elapsed * rate.perSecond) / 1000);
  const stop = before.stoppedUntil !== null && before.stoppedUntil > now ? before.stoppedUntil : null;
  if (stop !== null) return { bucket: { tokens: full, at: now, stoppedUntil: stop }, granted: 0, nextAt: stop };
  // Fractions of a token add up with rounding errors.
  const granted = Math.min(wanted, Math.floor(full + 1e-6));
  const tokens = Math.max(0, full - granted);
  const nextAt = tokens >= 1 ? now : now + Math.ceil(((1 - tokens) * 1000) / rate.perSecond);
  return { bucket: { tokens, at: now, stoppedUntil: null }, granted, nextAt };
}
