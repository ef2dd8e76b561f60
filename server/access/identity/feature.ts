import type { Config } from '../../config.ts';
import { feature } from '../../feature.ts';
import type { RevocationsService } from '../revocations/service.ts';
import type { TeamsService } from '../teams/service.ts';
import { accountRoutes } from './account/routes.ts';
import { clientRoutes } from './clients/routes.ts';
import { identityRoutes } from './routes.ts';
import { IdentityService } from './service.ts';
import type { IdentityDeps } from './service.ts';

export { OIDC_PATH } from './types.ts';
export { readUpstream } from './upstream/settings.ts';

interface Routes {
  identity: IdentityService;
  teams: TeamsService;
  revocations: Pick<RevocationsService, 'enforce'>;
  config: Pick<Config, 'allowPrivateSources'>;
}

/** `compose/start.ts` starts it, because it needs the public URL. */
export const identity = feature({
  create: ({ log, ...needs }: IdentityDeps) => ({ identity: new IdentityService({ ...needs, log: log.child({ component: 'identity' }) }) }),
  sweep: (own) => own.identity.sweep(),
  routes: (scope, { identity, teams, revocations, config }: Routes) => {
    clientRoutes(scope, { clients: identity.clients, onRevoked: (teamId) => revocations.enforce(teamId) });
    accountRoutes(scope, { identity, teams, allowPrivateSources: config.allowPrivateSources });
  },
  openRoutes: identityRoutes,
});
