const SECOND_MS = 1000;

/**
 * The moment that a sign-in counts from, in whole seconds, as the provider keeps it. It is before the proof was looked at, and
 * after the present password began: so a sign-in that was under way while the password changed is told apart from the next one,
 * also within one second (accounts/store.ts: `sessions_since` rises with every change).
 * @param begunAt when the proof was taken, milliseconds
 * @param passwordSince what was known of the account before its password was looked at, milliseconds
 */
export function loginTime(begunAt: number, passwordSince: number): number {
  return Math.max(Math.floor(begunAt / SECOND_MS), Math.floor(passwordSince / SECOND_MS) + 1);
}

/** False for a sign-in from before the present password, or from nobody knows when. @param loginTs seconds */
export function isStillGood(loginTs: number | undefined, passwordSince: number): boolean {
  return loginTs !== undefined && loginTs * SECOND_MS > passwordSince;
}
