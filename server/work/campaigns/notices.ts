import type { NewNotice } from '../../platform/notices/types.ts';
import type { CampaignChange } from './types.ts';

/** What people are told of a campaign: each change of its state. */
export function campaignNotice({ kind, campaign }: CampaignChange, now: number): NewNotice {
  return {
    teamId: campaign.team_id,
    kind: `campaign.${kind}`,
    phase: 'info',
    severity: kind === 'aborted' ? 'warning' : 'info',
    key: `campaign:${campaign.id}`,
    recordId: campaign.id,
    version: 'next',
    at: now,
    data: { description: campaign.description, stop_reason: campaign.stop_reason },
  };
}
