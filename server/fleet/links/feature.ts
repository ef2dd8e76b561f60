import { feature } from '../../feature.ts';
import type { Platform } from '../../feature.ts';
import type { SessionsService } from '../sessions/service.ts';
import { linkRoutes } from './routes.ts';
import type { LinkRoutesDeps } from './routes.ts';
import { LinkQuality } from './service.ts';

interface Needs extends Pick<Platform, 'config' | 'storage' | 'clock' | 'log' | 'counters'> {
  sessions: Pick<SessionsService, 'pings'>;
}

/** Behind the sessions, whose pings it counts. */
export const links = feature({
  create: ({ config, storage, clock, log, counters, sessions }: Needs) => {
    const links = new LinkQuality({ storage, clock, log: log.child({ component: 'links' }), counters, keep: config.keepSteps });
    sessions.pings.subscribe(({ agentId, roundTripMs }) => links.onPing(agentId, roundTripMs));
    return { links };
  },
  start: ({ links }) => links.start(),
  stop: ({ links }) => links.stop(),
  sweep: ({ links }) => links.sweep(),
  routes: (scope, services: LinkRoutesDeps) => linkRoutes(scope, services),
});
