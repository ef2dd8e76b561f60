const MINUTE_MS = 60_000;

/** How many jobs may be begun together, and how long to wait after them. */
export interface Pace {
  atOnce: number;
  everyMs: number;
}

/**
 * A rate spread over the minute, in steps of about a second. Rounded so that no 60 seconds ever hold more than the rate:
 * a minute holds at most floor(rate / atOnce) of these steps. Time that was missed is not made up for, as that would be
 * a burst.
 */
export function paceOf(ratePerMinute: number | null): Pace {
  if (ratePerMinute === null) return { atOnce: Number.POSITIVE_INFINITY, everyMs: 0 };
  const atOnce = Math.max(1, Math.floor(ratePerMinute / 60));
  return { atOnce, everyMs: Math.ceil(MINUTE_MS / Math.floor(ratePerMinute / atOnce)) };
}
