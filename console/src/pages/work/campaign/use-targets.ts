import { useQuery } from '@tanstack/react-query';
import type { CampaignTarget } from '../../../../../client/browser.ts';
import { useFleet } from '../../../data/use-fleet.ts';

/** Targets of one request. */
const PAGE = 1000;
/** A list of more than one page is read anew at most this often, milliseconds: jobs of other work are events, too. */
const SLOW_MS = 10_000;

/** All targets of a campaign in the order in which they run. */
export function useAllTargets(campaignId: string, count: number, isGoingOn: boolean): readonly CampaignTarget[] | undefined {
  const { api } = useFleet();
  const isLarge = count > PAGE;
  const { data } = useQuery({
    // Events of jobs and campaigns make lists of one page stale; larger ones are read by the clock.
    queryKey: [isLarge ? 'campaign-targets' : 'campaigns', 'listCampaignTargets', campaignId],
    queryFn: async ({ signal }) => {
      const targets = await api.all('listCampaignTargets', { path: { campaign_id: campaignId }, query: { limit: PAGE } }, { signal });
      return targets.toSorted((one, other) => one.position - other.position);
    },
    ...(isLarge && isGoingOn ? { refetchInterval: SLOW_MS } : {}),
  });
  return data;
}
