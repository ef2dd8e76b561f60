import type { NewNotice } from '../../platform/notices/types.ts';
import type { CampaignChange } from './types.ts';

/** In the order in which they can follow each other; `paused` and `resumed` alternate. */
const RANK: Record<CampaignChange['kind'], number> = { started: 0, paused: 1, resumed: 1, canceled: 2, aborted: 2, completed: 3 };

/** What people are told of a campaign: each change of its state. */
export function campaignNotice({ kind, campaign }: CampaignChange, now: number): NewNotice {
  return {
    teamId: campaign.team_id,
    kind: `campaign.${kind}`,
    phase: 'info',
    severity: kind === 'aborted' ? 'warning' : 'info',
    key: `campaign:${campaign.id}`,
    recordId: campaign.id,
    version: RANK[kind],
    at: now,
    data: { description: campaign.description, stop_reason: campaign.stop_reason },
  };
}
