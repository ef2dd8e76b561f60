const MINUTE = 60_000;

/**
 * The time left in words, in the largest whole unit: "2 hours from now", "45 seconds from now", "expired".
 * A started minute counts, so that a forward for two hours does not say one hour a moment after its creation.
 */
export function timeToExpire(expiresAt: number, now: number): string {
  const left = expiresAt - now;
  if (left <= 0) return 'expired';
  if (left <= MINUTE - 1000) return words(Math.ceil(left / 1000), 'second');
  const minutes = Math.ceil(left / MINUTE);
  if (minutes < 60) return words(minutes, 'minute');
  if (minutes < 24 * 60) return words(Math.floor(minutes / 60), 'hour');
  return words(Math.floor(minutes / (24 * 60)), 'day');
}

function words(count: number, unit: string): string {
  return `${count} ${unit}${count === 1 ? '' : 's'} from now`;
}
