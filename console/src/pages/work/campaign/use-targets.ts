import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import type { CampaignTarget } from '../../../../../client/browser.ts';
import { TARGETS } from '../../../data/fleet.ts';
import { useEvents, useFleet } from '../../../data/use-fleet.ts';

/** Targets of one request. */
const PAGE = 1000;
/** The list is read again at most this often while the campaign moves, milliseconds: one page, or several. */
const AGAIN_MS = { one: 2000, many: 10_000 };

/** All targets of a campaign in the order in which they run. */
export function useAllTargets(campaignId: string, count: number): readonly CampaignTarget[] | undefined {
  const { api } = useFleet();
  const { data } = useQuery({
    queryKey: [TARGETS, 'listCampaignTargets', campaignId],
    queryFn: async ({ signal }) => {
      const targets = await api.all('listCampaignTargets', { path: { campaign_id: campaignId }, query: { limit: PAGE } }, { signal });
      return targets.toSorted((one, other) => one.position - other.position);
    },
  });
  useReadingAgain(campaignId, count > PAGE ? AGAIN_MS.many : AGAIN_MS.one);
  return data;
}

/** When the campaign has moved, and after a pause for what moves meanwhile. */
function useReadingAgain(campaignId: string, afterMs: number): void {
  const queries = useQueryClient();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  useEvents(({ type, data }) => {
    if (type !== 'campaign.progress' || data['campaign_id'] !== campaignId) return;
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      // Those of a hidden page are read when it comes into sight.
      void queries.invalidateQueries({ queryKey: [TARGETS], refetchType: document.hidden ? 'none' : 'active' });
    }, afterMs);
  });
}
