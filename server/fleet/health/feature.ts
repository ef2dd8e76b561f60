import { feature } from '../../feature.ts';
import type { Platform } from '../../feature.ts';
import type { RoutersService } from '../routers/service.ts';
import { healthRoutes } from './routes.ts';
import type { HealthRoutesDeps } from './routes.ts';
import { RouterHealth } from './service.ts';

interface Needs extends Pick<Platform, 'config' | 'storage' | 'clock' | 'log' | 'counters'> {
  routers: RoutersService;
}

/** Behind the routers, whose names it asks for. */
export const health = feature({
  create: ({ config, storage, clock, log, counters, routers }: Needs) => ({
    health: new RouterHealth({ storage, clock, log: log.child({ component: 'health' }), counters, routers, keep: config.keepSteps }),
  }),
  start: (own) => own.health.start(),
  stop: (own) => own.health.stop(),
  sweep: (own) => own.health.sweep(),
  agentListener: ({ health }) => ({ onHealth: (connection, report) => health.onHealth(connection, report) }),
  routes: (scope, services: HealthRoutesDeps) => healthRoutes(scope, services),
});
