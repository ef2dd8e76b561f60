import { z } from 'zod';
import type { PlacedEvent } from '../../outbound/events/service.ts';
import type { CampaignsService } from '../../work/campaigns/service.ts';
import { campaignOfKey } from '../../work/campaigns/feature.ts';
import type { JobsService } from '../../work/jobs/service.ts';

interface Services {
  jobs: Pick<JobsService, 'changes'>;
  campaigns: Pick<CampaignsService, 'changedElsewhere'>;
}

const jobEvent = z.object({ job_id: z.string(), idempotency_key: z.string().nullish() });
const campaignEvent = z.object({ campaign_id: z.string() });
/** `campaign.progress` follows from the others. */
const CAMPAIGN_CHANGES: ReadonlySet<string> = new Set(['campaign.started', 'campaign.resumed', 'campaign.canceled', 'campaign.aborted']);

/**
 * Wakes what waits for jobs and campaigns that other control planes change: their events come here anyway. An event is a hint, so that a lost
 * one costs time only: whoever hears it reads the database.
 */
export function hearOfWork({ teamId, type, data }: PlacedEvent, { jobs, campaigns }: Services): void {
  if (type.startsWith('job.')) {
    const { job_id: jobId, idempotency_key: key } = jobEvent.parse(JSON.parse(data));
    jobs.changes.elsewhere.publish(jobId);
    const campaignId = campaignOfKey(key ?? '');
    if (campaignId !== undefined) campaigns.changedElsewhere(teamId, campaignId);
  } else if (CAMPAIGN_CHANGES.has(type)) {
    campaigns.changedElsewhere(teamId, campaignEvent.parse(JSON.parse(data)).campaign_id);
  }
}
