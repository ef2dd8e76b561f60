import { useCallback, useMemo, useState, useSyncExternalStore } from 'react';
import type { Router } from '../../../client/browser.ts';
import { railsOfMany } from '../rails/from-buckets.ts';
import type { Rails, Span } from '../rails/pieces.ts';
import { useFleet } from './use-fleet.ts';
import { serverNow } from './server-clock.ts';

export const DAY_MS = 86_400_000;

/** The last 24 hours of one router, and what goes on now. @param now moves once a minute */
export function useDayRails(router: Router, now: number): Rails | undefined {
  const { rails } = useFleet();
  const { id } = router;
  const subscribe = useCallback((listener: () => void) => rails.subscribe(id, listener), [rails, id]);
  const buckets = useSyncExternalStore(subscribe, () => rails.get(id));
  return useMemo(() => {
    void buckets;
    return rails.railsOf(router, dayUntil(now));
  }, [rails, buckets, router, now]);
}

/** The last 24 hours of several routers as one, such as those of a site. */
export function useManyRails(routers: readonly Router[], now: number): Rails | undefined {
  const { rails } = useFleet();
  const ids = routers.map(({ id }) => id).join();
  const subscribe = useCallback(
    (listener: () => void) => {
      // Without routers, it is no list of one id.
      const leaves = ids === '' ? [] : ids.split(',').map((id) => rails.subscribe(id, listener));
      return () => leaves.forEach((leave) => leave());
    },
    [rails, ids],
  );
  const version = useSyncExternalStore(subscribe, () => rails.version);
  const known = useMemo(() => {
    void version;
    return routers.map((router) => rails.railsOf(router, dayUntil(now))).filter((one) => one !== undefined);
  }, [rails, version, routers, now]);
  const same = useSame(known);
  return useMemo(() => (same[0] === undefined ? undefined : railsOfMany(same, same[0])), [same]);
}

function dayUntil(now: number): Span {
  const to = Math.max(now, serverNow() - 60_000);
  return { from: to - DAY_MS, to };
}

/** The list of before as long as it holds the same. */
function useSame<T>(list: readonly T[]): readonly T[] {
  const [kept, setKept] = useState(list);
  if (kept === list || (kept.length === list.length && kept.every((one, index) => one === list[index]))) return kept;
  setKept(list);
  return list;
}
