import { feature } from '../../feature.ts';
import type { Platform } from '../../feature.ts';
import { AGENTS_APART_MS } from '../../platform/core/gathered.ts';
import type { RevocationsService } from '../revocations/service.ts';
import { apiKeyRoutes, openEnrolmentRoutes } from './routes.ts';
import type { EnrolmentRoutesDeps } from './routes.ts';
import { CredentialsService } from './service.ts';

interface Routes extends Pick<Platform, 'now'> {
  credentials: CredentialsService;
  revocations: Pick<RevocationsService, 'enforce'>;
}

interface EnrolmentRoutes extends Omit<EnrolmentRoutesDeps, 'onReplaced'>, Pick<Platform, 'rateLimit'> {
  endReplacedAgent: EnrolmentRoutesDeps['onReplaced'];
}

export const credentials = feature({
  create: ({ storage, clock, log, counters }: Pick<Platform, 'storage' | 'clock' | 'log' | 'counters'>) => ({
    credentials: new CredentialsService({
      storage,
      clock,
      log: log.child({ component: 'auth' }),
      counters,
      agentsApartMs: AGENTS_APART_MS,
    }),
  }),
  stop: (own) => own.credentials.stop(),
  routes: (scope, { credentials, now, revocations }: Routes) =>
    apiKeyRoutes(scope, { credentials, now, onRevoked: (teamId) => revocations.enforce(teamId) }),
  openRoutes: (scope, { endReplacedAgent, ...services }: EnrolmentRoutes) =>
    openEnrolmentRoutes(scope, { ...services, onReplaced: endReplacedAgent }),
});
