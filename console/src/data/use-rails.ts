import { useCallback, useMemo, useSyncExternalStore } from 'react';
import type { Router } from '../../../client/browser.ts';
import { railsOfBuckets, railsOfMany } from '../rails/from-buckets.ts';
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

/** The last 24 hours of several routers as one, such as those of a site. */
export function useManyRails(routers: readonly Router[], now: number): Rails | undefined {
  const { rails } = useFleet();
  const ids = routers.map(({ id }) => id).join();
  const subscribe = useCallback(
    (listener: () => void) => {
      const leaves = ids.split(',').map((id) => rails.subscribe(id, listener));
      return () => leaves.forEach((leave) => leave());
    },
    [rails, ids],
  );
  const version = useSyncExternalStore(subscribe, () => rails.version);
  return useMemo(() => {
    void version;
    const to = Math.max(now, Date.now() - 60_000);
    const span = { from: to - DAY_MS, to };
    const known = routers.flatMap((router) => {
      const buckets = rails.get(router.id);
      return buckets ? [railsOfBuckets(buckets, router, span)] : [];
    });
    return known.length === 0 ? undefined : railsOfMany(known, span);
  }, [rails, version, routers, now]);
}
