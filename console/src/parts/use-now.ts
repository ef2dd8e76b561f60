import { useEffect, useState } from 'react';
import { toServerTime } from '../data/server-clock.ts';

/**
 * The time of the control plane, milliseconds since 1970, counted on while `isGoing`: for ages and countdowns of its records. It is a wall
 * clock: a computer that slept is right again at once.
 */
export function useNow(everyMs: number, isGoing = true): number {
  return toServerTime(useBrowserNow(everyMs, isGoing));
}

/** The same by this browser's clock, for how long ago something happened here. */
export function useBrowserNow(everyMs: number, isGoing = true): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (!isGoing) return undefined;
    const look = (): void => setNow(Date.now());
    look();
    const timer = setInterval(look, everyMs);
    document.addEventListener('visibilitychange', look);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', look);
    };
  }, [isGoing, everyMs]);
  return now;
}
