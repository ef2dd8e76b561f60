import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../parts/lazy-part.ts';
import { root, searchBy } from '../../root-route.ts';
import { readAgentsSearch } from './agents/agents.ts';
import { readFaultsSearch } from './faults/search.ts';
import { NowPage } from './now/now-page.tsx';
import { RouterPage } from './router/router-page.tsx';
import { readRouterSearch } from './router/router-search.ts';
import { StoryPage } from './router/story-page.tsx';
import { RoutersPage } from './routers/routers-page.tsx';
import { readSearch } from './routers/search.ts';
import { readTextSearch } from './sites/site-search.ts';

// Each route is a constant of its own: written inside `addChildren`, all types of the tree become `any` without a word.
const now = createRoute({ getParentRoute: () => root, path: '/', component: NowPage });
const routers = createRoute({ getParentRoute: () => root, path: '/routers', component: RoutersPage, validateSearch: searchBy(readSearch) });
const router = createRoute({
  getParentRoute: () => root,
  path: '/routers/$routerId',
  component: RouterPage,
  validateSearch: searchBy(readRouterSearch),
  // It holds nothing of one router, and whoever goes from one to the next keeps the focus on its button.
  remountDeps: () => '',
});
const story = createRoute({ getParentRoute: () => router, path: '/', component: StoryPage });
const tunnel = createRoute({
  getParentRoute: () => router,
  path: '/tunnel',
  component: lazyPage(() => import('./router/tabs/tunnel-tab.tsx'), 'TunnelTab'),
});
const jobs = createRoute({
  getParentRoute: () => router,
  path: '/jobs',
  component: lazyPage(() => import('./router/tabs/jobs-tab.tsx'), 'JobsTab'),
});
const forwards = createRoute({
  getParentRoute: () => router,
  path: '/forwards',
  component: lazyPage(() => import('./router/tabs/forwards-tab.tsx'), 'ForwardsTab'),
});
const faults = createRoute({
  getParentRoute: () => router,
  path: '/faults',
  component: lazyPage(() => import('./router/tabs/faults-tab.tsx'), 'FaultsTab'),
});
const devices = createRoute({
  getParentRoute: () => router,
  path: '/devices',
  component: lazyPage(() => import('./router/tabs/devices-tab.tsx'), 'DevicesTab'),
});
const health = createRoute({
  getParentRoute: () => router,
  path: '/health',
  component: lazyPage(() => import('./router/tabs/health-tab.tsx'), 'HealthTab'),
});
const oneRouter = router.addChildren([story, tunnel, jobs, forwards, faults, devices, health]);

const agents = createRoute({
  getParentRoute: () => root,
  path: '/agents',
  validateSearch: searchBy(readAgentsSearch),
  component: lazyPage(() => import('./agents/agents-page.tsx'), 'AgentsPage'),
});
const agent = createRoute({
  getParentRoute: () => root,
  path: '/agents/$agentId',
  component: lazyPage(() => import('./agent/agent-page.tsx'), 'AgentPage'),
});
const sites = createRoute({
  getParentRoute: () => root,
  path: '/sites',
  validateSearch: searchBy(readTextSearch),
  component: lazyPage(() => import('./sites/sites-page.tsx'), 'SitesPage'),
});
const site = createRoute({
  getParentRoute: () => root,
  path: '/sites/$siteId',
  component: lazyPage(() => import('./sites/site-page.tsx'), 'SitePage'),
});
const map = createRoute({ getParentRoute: () => root, path: '/map', component: lazyPage(() => import('./map/map-page.tsx'), 'MapPage') });
const allFaults = createRoute({
  getParentRoute: () => root,
  path: '/faults',
  validateSearch: searchBy(readFaultsSearch),
  component: lazyPage(() => import('./faults/faults-page.tsx'), 'FaultsPage'),
});
const allDevices = createRoute({
  getParentRoute: () => root,
  path: '/devices',
  validateSearch: searchBy(readTextSearch),
  component: lazyPage(() => import('./devices/devices-page.tsx'), 'DevicesPage'),
});

/** What the team has, and how it is. */
export const fleetRoutes = [now, routers, oneRouter, agents, agent, sites, site, map, allFaults, allDevices] as const;
