import { useEffect, useState } from 'react';

/** Milliseconds since 1970, counted on while `isGoing`: for ages and countdowns. A computer that slept is right again at once. */
export function useTicking(isGoing = true, everyMs = 1000): number {
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
