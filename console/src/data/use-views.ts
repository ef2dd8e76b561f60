import { useQuery } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import type { View } from '../../../client/browser.ts';
import { useFleet } from './use-fleet.ts';

/** Views of one request: a person has at most 100, a team 200 (docs/lists.md). */
const MOST = 300;
const NONE: readonly View[] = [];

/** Saved views of the list of routers: the person's own and the team's. @param isWanted false: nothing is read */
export function useViews(isWanted = true): readonly View[] {
  const { api } = useFleet();
  const { data } = useQuery({
    queryKey: ['views'],
    queryFn: async ({ signal }) => (await api.call('listViews', { query: { list: 'routers', limit: MOST } }, { signal })).data,
    enabled: isWanted,
  });
  return data ?? NONE;
}

/** What the list of routers opens with: the view that the person has chosen, or nothing, also when that view was removed. */
export function useFirstView(): Readonly<Record<string, string>> {
  const { preferences } = useFleet();
  const id = useSyncExternalStore(preferences.subscribe, () => preferences.chosen.routersView);
  const view = useViews(id !== undefined).find((one) => one.id === id);
  return view?.query ?? {};
}
