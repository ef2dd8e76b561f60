import { formatTime } from '../../routeros-text/durations.ts';

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
  const due = `($signalboxUptime >= ${formatTime(armedAt + allowed)})`;
  const dueAfterReboot = `(($signalboxUptime < ${formatTime(armedAt)}) && ($signalboxUptime >= ${formatTime(allowed)}))`;
  return `:local signalboxUptime [/system resource get uptime]; :if (${due} || ${dueAfterReboot}) do={ ${over} }`;
}
