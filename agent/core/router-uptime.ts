import { formatTime, parseDuration } from '../../routeros-text/durations.ts';

/**
 * Deadlines that a router keeps by its own uptime, so that a wrong, unset or changed wall clock has no effect. Pure.
 */

/** Uptime of the router at the start, and the allowed time from then on; both in seconds. */
export interface UptimeSpan {
  armedAt: number;
  allowed: number;
}

/**
 * RouterOS script source that runs `over` once the time has passed; after a reboot the whole allowed time counts again. For a
 * scheduler entry that runs every few seconds. Uses only `time` values and commands that v6 and v7 share.
 */
export function whenUptimeIsOver({ armedAt, allowed }: UptimeSpan, over: string): string {
  const due = `($signalboxUptime >= ${formatTime(armedAt + allowed)})`;
  const dueAfterReboot = `(($signalboxUptime < ${formatTime(armedAt)}) && ($signalboxUptime >= ${formatTime(allowed)}))`;
  return `:local signalboxUptime [/system resource get uptime]; :if (${due} || ${dueAfterReboot}) do={ ${over} }`;
}

/** @returns the time in a source that {@link whenUptimeIsOver} wrote, undefined for any other source */
export function uptimeSpanIn(source: string): UptimeSpan | undefined {
  const [, armed, after] = /\$signalboxUptime < ([\dd:]+)\) && \(\$signalboxUptime >= ([\dd:]+)\)/.exec(source) ?? [];
  const [armedAt, allowed] = [parseDuration(armed ?? ''), parseDuration(after ?? '')];
  return armedAt === undefined || allowed === undefined ? undefined : { armedAt, allowed };
}
