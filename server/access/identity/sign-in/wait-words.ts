const MINUTE_S = 60;

/** When somebody may try again, for people: `Try again in 2 minutes.` @param seconds as the header Retry-After has them */
export function tryAgainIn(seconds: number): string {
  if (seconds < MINUTE_S) return `Try again in ${seconds === 1 ? 'a second' : `${seconds} seconds`}.`;
  const minutes = Math.ceil(seconds / MINUTE_S);
  return `Try again in ${minutes === 1 ? 'a minute' : `${minutes} minutes`}.`;
}
