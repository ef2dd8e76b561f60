import { useCallback, useMemo, useSyncExternalStore } from 'react';
import type { Router } from '../../../client/browser.ts';
import { railsOfBuckets } from '../rails/from-buckets.ts';
import type { Rails } from '../rails/pieces.ts';
import { useFleet } from './use-fleet.ts';

export const DAY_MS = 86_400_000;

/** The last 24 hours of one router, and what goes on now. @param now moves once a minute */
export function useDayRails(router: Router, now: number): Rails | undefined {
  const { rails } = useFleet();
  const { id } = router;
  const subscribe = useCallback((listener: () => void) => rails.subscribe(id, listener), [rails, id]);
  const buckets = useSyncExternalStore(subscribe, () => rails.get(id));
  return useMemo(() => {
    if (!buckets) return undefined;
    const to = Math.max(now, Date.now() - 60_000);
    return railsOfBuckets(buckets, router, { from: to - DAY_MS, to });
  }, [buckets, router, now]);
}
