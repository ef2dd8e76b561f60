import type { Silence } from '../../../../../client/browser.ts';
import { useAll } from '../directory.ts';

/** First part of the keys of queries. */
export const SILENCES = 'silences';

/** Silences that hold now for a router of this site, or for the site itself. */
export function useSilencesOf({ routerId, siteId }: { routerId?: string; siteId: string | null }): readonly Silence[] {
  const { data } = useAll(SILENCES, 'listSilences');
  const now = Date.now();
  return (data ?? []).filter(({ router_id: router, site_id: site, from, until }) => {
    if (Date.parse(from) > now || Date.parse(until) <= now) return false;
    return router === null ? site === null || site === siteId : router === routerId;
  });
}

export function useSiteName(): (id: string) => string {
  const { data } = useAll('sites', 'listSites');
  return (id) => data?.find((site) => site.id === id)?.name ?? 'removed site';
}
