import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { Site } from '../../../../../client/browser.ts';
import { useFleet, useRoutersVersion } from '../../../data/use-fleet.ts';

/** A site and how its routers are now. */
export interface SiteNow {
  site: Site;
  routers: number;
  answering: number;
}

/** Every site of the team with its routers, trouble first. */
export function useSites() {
  const { api, routers } = useFleet();
  const version = useRoutersVersion();
  const query = useQuery({ queryKey: ['sites', 'all'], queryFn: () => api.all('listSites', {}) });
  const sites = useMemo(() => {
    void version;
    const counts = new Map<string, { routers: number; answering: number }>();
    for (const { site_id: id, state } of routers.values()) {
      if (id === null) continue;
      const count = counts.get(id) ?? { routers: 0, answering: 0 };
      count.routers += 1;
      if (state === 'answering') count.answering += 1;
      counts.set(id, count);
    }
    const all = (query.data ?? []).map((site): SiteNow => ({ site, ...(counts.get(site.id) ?? { routers: 0, answering: 0 }) }));
    return all.sort((one, other) => missing(other) - missing(one) || one.site.name.localeCompare(other.site.name));
  }, [routers, version, query.data]);
  return { sites, isFirst: query.isPending, error: query.error };
}

function missing({ routers, answering }: SiteNow): number {
  return routers - answering;
}
