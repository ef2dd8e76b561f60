import { feature } from '../../feature.ts';
import type { Platform } from '../../feature.ts';
import type { JobsService } from '../jobs/service.ts';
import { campaignRoutes } from './routes.ts';
import { CampaignsService } from './service.ts';

export { campaignOfKey } from './service.ts';

interface Needs extends Pick<Platform, 'storage' | 'clock' | 'log' | 'counters' | 'cluster'> {
  jobs: JobsService;
}

export const campaigns = feature({
  create: ({ storage, clock, log, counters, cluster, jobs }: Needs) => ({
    campaigns: new CampaignsService({
      storage,
      jobs,
      clock,
      log: log.child({ component: 'campaigns' }),
      counters,
      members: cluster?.members,
    }),
  }),
  start: (own) => own.campaigns.start(),
  stop: (own) => own.campaigns.stop(),
  measures: ({ campaigns }) => ({ shares: { campaign_rounds: campaigns.rounds } }),
  routes: campaignRoutes,
});
