import { quote } from '../router/quote.ts';

/**
 * When a guarded router undoes the script, by its own uptime: a wall clock that is wrong, unset after a reboot, or
 * changed by the script itself makes no difference. Pure.
 */

/** Uptime of the router when the guard was armed, and what it allows from then on; both in seconds. */
export interface GuardTime {
  armedAt: number;
  allowed: number;
}

/** Seconds until the router undoes the script; after a reboot all of the allowed time counts again. */
export function secondsLeft({ armedAt, allowed }: GuardTime, uptime: number): number {
  return uptime < armedAt ? allowed - uptime : armedAt + allowed - uptime;
}

/** Name of a guard's scheduler entry, and of its restore point without folder and suffix. */
export function guardNameOf(jobId: string): string {
  return `${GUARD_PREFIX}${jobId}`;
}

export const GUARD_PREFIX = 'signalbox-undo-';

/**
 * What the scheduler entry runs every few seconds: {@link secondsLeft} in the router's language, and at zero the load,
 * which reboots the router. Without its restore point (a backup of this moment loaded next year) the entry goes.
 * `password=""` because a load without it asks for one. Only `time` values and words that v6 and v7 share.
 */
export function tickSource(entry: string, restorePoint: string, { armedAt, allowed }: GuardTime): string {
  const due = `($signalboxUptime >= ${clock(armedAt + allowed)})`;
  const dueAfterReboot = `(($signalboxUptime < ${clock(armedAt)}) && ($signalboxUptime >= ${clock(allowed)}))`;
  const load = `/system backup load name=${quote(restorePoint)} password=""`;
  const remove = `/system scheduler remove [find name=${quote(entry)}]`;
  const undo = `:if ([:len [/file find name=${quote(restorePoint)}]] > 0) do={ ${load} } else={ ${remove} }`;
  return `:local signalboxUptime [/system resource get uptime]; :if (${due} || ${dueAfterReboot}) do={ ${undo} }`;
}

/** A number of seconds as RouterOS writes a `time`: `3d04:05:06`. */
function clock(seconds: number): string {
  const days = Math.floor(seconds / 86_400);
  const parts = [Math.floor(seconds / 3600) % 24, Math.floor(seconds / 60) % 60, Math.floor(seconds) % 60];
  return `${days > 0 ? `${days}d` : ''}${parts.map((part) => String(part).padStart(2, '0')).join(':')}`;
}
