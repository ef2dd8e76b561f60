const MINUTE_MS = 60_000;

/** How many jobs may start together, and how long to wait after them. */
export interface Pace {
  atOnce: number;
  everyMs: number;
}

/**
 * Spreads a rate over the minute, in steps of about a second. Rounded so that no 60 seconds contain more than the rate: a minute has at
 * most floor(rate / atOnce) of these steps. Missed time is not made up for, because that would be a burst.
 */
export function paceOf(ratePerMinute: number | null): Pace {
  if (ratePerMinute === null) return { atOnce: Number.POSITIVE_INFINITY, everyMs: 0 };
  const atOnce = Math.max(1, Math.floor(ratePerMinute / 60));
  return { atOnce, everyMs: Math.ceil(MINUTE_MS / Math.floor(ratePerMinute / atOnce)) };
}
