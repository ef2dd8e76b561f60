import type { Silence } from '../../../../../client/browser.ts';
import { SILENCES } from '../../../data/fleet.ts';
import { useAll } from '../directory.ts';
import { serverNow } from '../../../data/server-clock.ts';

/** First part of the keys of queries. */
export { SILENCES };

interface SilencesOf {
  /** Undefined until they have been read. */
  silences: readonly Silence[] | undefined;
  error: Error | null;
}

/** Silences that hold now for a router of this site, or for the site itself. */
export function useSilencesOf({ routerId, siteId }: { routerId?: string; siteId: string | null }): SilencesOf {
  const { data, error } = useAll(SILENCES, 'listSilences');
  const now = serverNow();
  const silences = data?.filter(({ router_id: router, site_id: site, from, until }) => {
    if (Date.parse(from) > now || Date.parse(until) <= now) return false;
    return router === null ? site === null || site === siteId : router === routerId;
  });
  return { silences, error };
}

export function useSiteName(): (id: string) => string {
  const { data } = useAll('sites', 'listSites');
  return (id) => (data === undefined ? 'a site' : (data.find((site) => site.id === id)?.name ?? 'removed site'));
}
