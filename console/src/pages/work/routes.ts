import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../parts/lazy-part.ts';
import { root, searchBy } from '../../root-route.ts';
import { readCompareSearch } from './backups/compare-search.ts';
import { readCampaignSearch } from './campaign/search.ts';
import { readForwardsSearch, readNewForwardSearch } from './forwards/search.ts';
import { readJobsSearch } from './jobs/search.ts';
import { readRunSearch } from './run/search.ts';

const run = createRoute({
  getParentRoute: () => root,
  path: '/run',
  validateSearch: searchBy(readRunSearch),
  component: lazyPage(() => import('./run/run-page.tsx'), 'RunPage'),
});
const jobs = createRoute({
  getParentRoute: () => root,
  path: '/jobs',
  validateSearch: searchBy(readJobsSearch),
  component: lazyPage(() => import('./jobs/jobs-page.tsx'), 'JobsPage'),
});
const job = createRoute({
  getParentRoute: () => root,
  path: '/jobs/$routerId/$jobId',
  component: lazyPage(() => import('./job/job-page.tsx'), 'JobPage'),
});
const campaigns = createRoute({
  getParentRoute: () => root,
  path: '/campaigns',
  component: lazyPage(() => import('./campaigns/campaigns-page.tsx'), 'CampaignsPage'),
});
const newCampaign = createRoute({
  getParentRoute: () => root,
  path: '/campaigns/new',
  validateSearch: searchBy(readRunSearch),
  component: lazyPage(() => import('./campaigns/new-campaign-page.tsx'), 'NewCampaignPage'),
});
const campaign = createRoute({
  getParentRoute: () => root,
  path: '/campaigns/$campaignId',
  validateSearch: searchBy(readCampaignSearch),
  component: lazyPage(() => import('./campaign/campaign-page.tsx'), 'CampaignPage'),
});
const forwards = createRoute({
  getParentRoute: () => root,
  path: '/forwards',
  validateSearch: searchBy(readForwardsSearch),
  component: lazyPage(() => import('./forwards/forwards-page.tsx'), 'ForwardsPage'),
});
const newForward = createRoute({
  getParentRoute: () => root,
  path: '/forwards/new',
  validateSearch: searchBy(readNewForwardSearch),
  component: lazyPage(() => import('./forwards/new-forward-page.tsx'), 'NewForwardPage'),
});
const forward = createRoute({
  getParentRoute: () => root,
  path: '/forwards/$routerId/$forwardId',
  component: lazyPage(() => import('./forwards/forward-page.tsx'), 'ForwardPage'),
});
const backups = createRoute({
  getParentRoute: () => root,
  path: '/routers/$routerId/backups',
  component: lazyPage(() => import('./backups/backups-page.tsx'), 'BackupsPage'),
});
const compare = createRoute({
  getParentRoute: () => root,
  path: '/routers/$routerId/backups/$pair',
  validateSearch: searchBy(readCompareSearch),
  component: lazyPage(() => import('./backups/compare-page.tsx'), 'ComparePage'),
});

/** What is done with routers. */
export const workRoutes = [run, jobs, job, campaigns, newCampaign, campaign, forwards, newForward, forward, backups, compare] as const;
