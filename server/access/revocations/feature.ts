import { feature } from '../../feature.ts';
import type { AgentGateway } from '../../platform/core/agent-gateway.ts';
import { revocationRoutes } from './routes.ts';
import { RevocationsService } from './service.ts';
import type { RevocationsDeps } from './service.ts';

interface Needs extends Omit<RevocationsDeps, 'gateway'> {
  gateway: AgentGateway;
}

export const revocations = feature({
  create: ({ gateway, log, ...needs }: Needs) => ({
    revocations: new RevocationsService({ ...needs, gateway, log: log.child({ component: 'revocations' }) }),
  }),
  start: (own) => own.revocations.start(),
  stop: (own) => own.revocations.stop(),
  sweep: (own) => own.revocations.sweep(),
  routes: revocationRoutes,
});
