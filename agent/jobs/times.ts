import type { BackupTimes } from './backup/take.ts';
import { GUARD_TIMES } from './guard/undo-guard.ts';
import type { GuardTimes } from './guard/undo-guard.ts';
import type { StoredOffer } from './journal/records.ts';

export interface ExecutionTimes {
  /** Time of one operation on the router, in milliseconds. */
  operationMs: number;
  /** First and longest pause before a failed operation is retried, in milliseconds. */
  retryMs: number;
  longestRetryMs: number;
  /** Interval of checks of a running script, in milliseconds. */
  pollMs: number;
  /** Time for the steps between `go` and BEGIN beyond the job's own timeout, in milliseconds. */
  prepareMs: number;
  backup: BackupTimes;
  guard: GuardTimes;
}

export const DEFAULT_TIMES: ExecutionTimes = {
  operationMs: 20_000,
  retryMs: 500,
  longestRetryMs: 15_000,
  pollMs: 2000,
  prepareMs: 60_000,
  backup: { pollMs: 1000, limitMs: 120_000, afterMs: 30_000 },
  guard: GUARD_TIMES,
};

/**
 * After `go` a job begins within this time, in milliseconds, or never: later the control plane sets it to unknown, and a person may
 * have created it again. Shorter than the control plane's own limit.
 */
export function longestStartMs(offer: StoredOffer, { prepareMs, backup }: ExecutionTimes): number {
  const backups = Number(offer.make_backup) + Number(offer.undo_unless_reachable_seconds !== undefined);
  return offer.timeout_ms + prepareMs + backups * backup.limitMs;
}
