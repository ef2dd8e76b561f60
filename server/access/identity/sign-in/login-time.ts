const SECOND_MS = 1000;

/**
 * The time from which a sign-in counts, in whole seconds, as the provider stores it. It is before the proof was checked and
 * after the current password was set. So a sign-in that was under way during a password change differs from the next one,
 * even within one second (accounts/store.ts: `sessions_since` rises with every change).
 * @param begunAt time at which the proof arrived, milliseconds
 * @param passwordSince time of the last password change, read before the password was checked, milliseconds
 */
export function loginTime(begunAt: number, passwordSince: number): number {
  return Math.max(Math.floor(begunAt / SECOND_MS), Math.floor(passwordSince / SECOND_MS) + 1);
}

/** False for a sign-in from before the current password, or without a known time. @param loginTs seconds */
export function isStillValid(loginTs: number | undefined, passwordSince: number): boolean {
  return loginTs !== undefined && loginTs * SECOND_MS > passwordSince;
}
