import { feature } from '../../feature.ts';
import type { Platform } from '../../feature.ts';
import { preferenceRoutes } from './preferences/routes.ts';
import { PreferencesService } from './preferences/service.ts';
import { viewRoutes } from './routes.ts';
import { ViewsService } from './service.ts';

/** What people set for themselves, and the filters that they save. */
export const views = feature({
  create: ({ storage, clock }: Pick<Platform, 'storage' | 'clock'>) => ({
    views: new ViewsService({ storage, clock }),
    preferences: new PreferencesService({ storage, clock }),
  }),
  routes: (scope, services: { views: ViewsService; preferences: PreferencesService }) => {
    viewRoutes(scope, services);
    preferenceRoutes(scope, services);
  },
});
