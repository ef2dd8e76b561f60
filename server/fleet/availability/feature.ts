import { feature } from '../../feature.ts';
import type { Platform } from '../../feature.ts';
import type { KnownRuns } from '../sessions/types.ts';
import type { StatesService } from '../states/service.ts';
import { availabilityRoutes } from './routes.ts';
import { AvailabilityService } from './service.ts';

interface Needs extends Pick<Platform, 'storage' | 'clock'> {
  states: StatesService;
  serverRuns: KnownRuns;
}

export const availability = feature({
  create: ({ storage, clock, states, serverRuns }: Needs) => ({
    availability: new AvailabilityService({ storage, clock, states, runs: serverRuns }),
  }),
  routes: availabilityRoutes,
});
