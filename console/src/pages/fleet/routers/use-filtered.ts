import { useQuery } from '@tanstack/react-query';
import type { UseQueryResult } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useFleet, useRoutersVersion } from '../../../data/use-fleet.ts';
import { filterOf, inOrder } from './search.ts';
import type { SiteNames, SortKey } from './search.ts';

const NONE: SiteNames = new Map();

/** Names of sites by id; none until they have been read. */
export function useSiteNames(): SiteNames {
  return useReadSiteNames().data ?? NONE;
}

export function useReadSiteNames(): UseQueryResult<SiteNames> {
  const { api } = useFleet();
  return useQuery({
    queryKey: ['sites', 'names'],
    queryFn: async (): Promise<SiteNames> => new Map((await api.all('listSites', {})).map(({ id, name }) => [id, name])),
  });
}

/** Ids of the routers that match a filter, in an order. Read anew whenever a router changes. */
export function useFiltered(q: string, sort: SortKey, sites: SiteNames): readonly string[] {
  const { routers } = useFleet();
  const version = useRoutersVersion();
  return useMemo(() => {
    void version;
    return inOrder(routers.values().filter(filterOf(q, sites)), sort, sites, routers.byName).map(({ id }) => id);
  }, [routers, version, q, sort, sites]);
}
