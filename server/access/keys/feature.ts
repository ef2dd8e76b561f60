import { feature } from '../../feature.ts';
import type { Platform } from '../../feature.ts';
import type { RevocationsService } from '../revocations/service.ts';
import { apiKeyRoutes, openEnrolmentRoutes } from './routes.ts';
import type { EnrolmentRoutesDeps } from './routes.ts';
import { AuthService } from './service.ts';

interface Routes extends Pick<Platform, 'now'> {
  auth: AuthService;
  revocations: Pick<RevocationsService, 'settle'>;
}

interface EnrolmentRoutes extends Omit<EnrolmentRoutesDeps, 'onReplaced'>, Pick<Platform, 'rateLimit'> {
  endReplacedAgent: EnrolmentRoutesDeps['onReplaced'];
}

export const keys = feature({
  create: ({ storage, clock, log, counters }: Pick<Platform, 'storage' | 'clock' | 'log' | 'counters'>) => ({
    auth: new AuthService({ storage, clock, log: log.child({ component: 'auth' }), counters }),
  }),
  stop: (own) => own.auth.stop(),
  routes: (scope, { auth, now, revocations }: Routes) =>
    apiKeyRoutes(scope, { auth, now, onRevoked: (teamId) => revocations.settle(teamId) }),
  openRoutes: (scope, { endReplacedAgent, ...services }: EnrolmentRoutes) =>
    openEnrolmentRoutes(scope, { ...services, onReplaced: endReplacedAgent }),
});
