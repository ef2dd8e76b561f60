import type { BackupTimes } from './backup/take.ts';
import { GUARD_TIMES } from './guard/undo-guard.ts';
import type { GuardTimes } from './guard/undo-guard.ts';
import type { StoredOffer } from './journal/records.ts';

export interface ExecutionTimes {
  /** One small errand on the router, milliseconds. */
  operationMs: number;
  /** First and longest pause before an errand that failed is tried again, milliseconds. */
  retryMs: number;
  longestRetryMs: number;
  /** Between two looks at a script that still runs, milliseconds. */
  pollMs: number;
  /** How long everything between `go` and BEGIN may take beyond the job's own timeout, milliseconds. */
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
 * After `go` a job begins within so many milliseconds or never: later the control plane calls it unknown, and somebody
 * may have given it anew. Within the control plane's own patience.
 */
export function longestStartMs(offer: StoredOffer, { prepareMs, backup }: ExecutionTimes): number {
  const backups = Number(offer.make_backup) + Number(offer.undo_unless_reachable_seconds !== undefined);
  return offer.timeout_ms + prepareMs + backups * backup.limitMs;
}
