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
 * one costs time only: whoever hears it reads the database. One of another form is ignored: an error here would end the reading of the log.
 */
export function hearOfWork({ teamId, type, data }: PlacedEvent, { jobs, campaigns }: Services): void {
  if (type.startsWith('job.')) {
    const { data: read } = jobEvent.safeParse(JSON.parse(data));
    if (!read) return;
    jobs.changes.elsewhere.publish(read.job_id);
    const campaignId = campaignOfKey(read.idempotency_key ?? '');
    if (campaignId !== undefined) campaigns.changedElsewhere(teamId, campaignId);
  } else if (CAMPAIGN_CHANGES.has(type)) {
    const { data: read } = campaignEvent.safeParse(JSON.parse(data));
    if (read) campaigns.changedElsewhere(teamId, read.campaign_id);
  }
}
