import { feature } from '../../feature.ts';
import type { Platform } from '../../feature.ts';
import { siteRoutes } from './routes.ts';
import { SitesService } from './service.ts';

export const sites = feature({
  create: ({ storage, clock, counters }: Pick<Platform, 'storage' | 'clock' | 'counters'>) => ({
    sites: new SitesService({ storage, clock, counters }),
  }),
  routes: (scope, { sites }: { sites: SitesService }) => siteRoutes(scope, sites),
});
