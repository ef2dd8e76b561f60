import { whenUptimeIsOver } from '../../core/router-uptime.ts';
import type { UptimeSpan } from '../../core/router-uptime.ts';
import { quote } from '../../../routeros-text/quote.ts';
import type { BootMark, StoredOffer } from '../journal/records.ts';

/**
 * When a guarded router undoes the script, by its own uptime, so that a wrong, unset or changed wall clock has no effect. Pure.
 */

/** Uptime of the router when the guard was armed, and the allowed time from then on; both in seconds. */
export type GuardTime = UptimeSpan;

/** Seconds until the router undoes the script; after a reboot the whole allowed time counts again. */
export function secondsLeft({ armedAt, allowed }: GuardTime, uptime: number): number {
  return uptime < armedAt ? allowed - uptime : armedAt + allowed - uptime;
}

/** When a guard fires that was armed at the recorded time. */
export function recordedTime(
  offer: StoredOffer,
  { uptime_seconds: armedAt }: BootMark,
  { tickSeconds }: { tickSeconds: number },
): GuardTime {
  return { armedAt: armedAt ?? 0, allowed: (offer.undo_unless_reachable_seconds ?? 0) + tickSeconds };
}

export interface LoadTimes {
  /** The guard is not disarmed this close to its end, in seconds, because the load may have begun. */
  marginSeconds: number;
  /** A router that has not undone the script this long after the end cannot, in seconds. */
  graceSeconds: number;
}

/** Whether the router may have begun to load the restore point without having rebooted yet. */
export function mayBeLoading(time: GuardTime, uptime: number, { marginSeconds, graceSeconds }: LoadTimes): boolean {
  const left = secondsLeft(time, uptime);
  return left <= marginSeconds && left >= -graceSeconds;
}

/** Name of a guard's scheduler entry, and of its restore point without folder and suffix. */
export function guardNameOf(jobId: string): string {
  return `${GUARD_PREFIX}${jobId}`;
}

export const GUARD_PREFIX = 'signalbox-undo-';

/**
 * Script source that the scheduler entry runs every few seconds: {@link secondsLeft} in RouterOS script, and at zero the load of
 * the restore point, which reboots the router. Without its restore point (a backup with the entry that is loaded a year later) the
 * entry removes itself. `password=""` because a load without it prompts for one.
 */
export function tickSource(entry: string, restorePoint: string, time: GuardTime): string {
  const load = `/system backup load name=${quote(restorePoint)} password=""`;
  const remove = `/system scheduler remove [find name=${quote(entry)}]`;
  const undo = `:if ([:len [/file find name=${quote(restorePoint)}]] > 0) do={ ${load} } else={ ${remove} }`;
  return whenUptimeIsOver(time, undo);
}
