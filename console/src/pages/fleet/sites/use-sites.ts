import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { Site } from '../../../../../client/browser.ts';
import { useFleet, useRoutersVersion } from '../../../data/use-fleet.ts';
import type { RouterState } from '../../../parts/lamp.tsx';

/** A site and how its routers are now. */
export interface SiteNow {
  site: Site;
  routers: number;
  answering: number;
  /** The state that the mark of the site has. */
  worst: RouterState;
}

/** The worst first. */
const BY_TROUBLE: readonly RouterState[] = ['not_answering', 'agent_away', 'never_seen', 'answering'];

/** The worst of these states; of none, that of a site in order. */
export function worstOf(states: Iterable<RouterState | null>): RouterState {
  const there = new Set(states);
  return BY_TROUBLE.find((state) => there.has(state)) ?? 'answering';
}

/** Every site of the team with its routers, trouble first. */
export function useSites() {
  const { api, routers } = useFleet();
  const version = useRoutersVersion();
  const query = useQuery({ queryKey: ['sites', 'all'], queryFn: () => api.all('listSites', {}) });
  const sites = useMemo(() => {
    void version;
    const bySite = Map.groupBy(routers.values(), ({ site_id: id }) => id);
    const all = (query.data ?? []).map((site): SiteNow => {
      const states = (bySite.get(site.id) ?? []).map(({ state }) => state);
      return { site, routers: states.length, answering: states.filter((state) => state === 'answering').length, worst: worstOf(states) };
    });
    return all.sort((one, other) => missing(other) - missing(one) || one.site.name.localeCompare(other.site.name));
  }, [routers, version, query.data]);
  return { sites, isFirst: query.isPending, error: query.error };
}

function missing({ routers, answering }: SiteNow): number {
  return routers - answering;
}
