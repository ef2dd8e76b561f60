/**
 * Deadlines that a router keeps by its own uptime: a wall clock that is wrong, unset after a reboot, or set meanwhile
 * makes no difference. Pure.
 */

/** Uptime of the router when it began, and what it allows from then on; both in seconds. */
export interface UptimeSpan {
  armedAt: number;
  allowed: number;
}

/**
 * Source in the router's language that runs `over` once the time is over; after a reboot all of the allowed time counts
 * again. For a scheduler entry that runs every few seconds. Only `time` values and words that v6 and v7 share.
 */
export function whenUptimeIsOver({ armedAt, allowed }: UptimeSpan, over: string): string {
  const due = `($signalboxUptime >= ${clock(armedAt + allowed)})`;
  const dueAfterReboot = `(($signalboxUptime < ${clock(armedAt)}) && ($signalboxUptime >= ${clock(allowed)}))`;
  return `:local signalboxUptime [/system resource get uptime]; :if (${due} || ${dueAfterReboot}) do={ ${over} }`;
}

/** A number of seconds as RouterOS writes a `time`: `3d04:05:06`. */
function clock(seconds: number): string {
  const days = Math.floor(seconds / 86_400);
  const parts = [Math.floor(seconds / 3600) % 24, Math.floor(seconds / 60) % 60, Math.floor(seconds) % 60];
  return `${days > 0 ? `${days}d` : ''}${parts.map((part) => String(part).padStart(2, '0')).join(':')}`;
}
