import type { CredentialsService } from '../../access/credentials/service.ts';
import { feature } from '../../feature.ts';
import type { Platform } from '../../feature.ts';
import { AGENTS_APART_MS } from '../../platform/core/gathered.ts';
import { admitAgents } from '../../platform/http/agent-scope.ts';
import type { AgentHolders } from '../agents/service.ts';
import { agentEntryRoutes } from './entries/routes.ts';
import type { AgentEntryRoutesDeps } from './entries/routes.ts';
import { routerListRoute } from './list/routes.ts';
import type { RouterListDeps } from './list/routes.ts';
import { routerMoveRoutes } from './moves/routes.ts';
import { routerRoutes } from './routes.ts';
import { RoutersService } from './service.ts';
import { unmanagedRoutes } from './unmanaged/routes.ts';

/** For `signalbox-agent check`, which has no tunnel. */
interface AgentRoutes extends Pick<Platform, 'rateLimit'> {
  credentials: CredentialsService;
  routers: RoutersService;
}

interface Needs extends Pick<Platform, 'config' | 'storage' | 'clock' | 'log' | 'counters' | 'cluster'> {
  agentHolders: AgentHolders | null;
}

export const routers = feature({
  create: ({ config, storage, clock, log, counters, cluster, agentHolders: holders }: Needs) => ({
    routers: new RoutersService({
      storage,
      clock,
      log: log.child({ component: 'routers' }),
      rules: { offlineAfterMs: config.offlineAfterMs },
      moves: config.routerMoves,
      counters,
      maxPerTeam: config.maxRoutersPerTeam,
      agentsApartMs: AGENTS_APART_MS,
      cluster,
      holders,
    }),
  }),
  start: (own) => own.routers.start(),
  stop: (own) => own.routers.stop(),
  agentListener: ({ routers }) => ({
    onReady: (connection) => routers.onReady(connection),
    onGone: (connection) => routers.onGone(connection),
    onHeartbeat: (connection, heartbeat) => routers.onHeartbeat(connection, heartbeat),
  }),
  routes: (scope, services: RouterListDeps & AgentEntryRoutesDeps) => {
    routerListRoute(scope, services);
    routerRoutes(scope, services);
    routerMoveRoutes(scope, services.routers);
    agentEntryRoutes(scope, services);
  },
  openRoutes: async (scope, { credentials, rateLimit, routers }: AgentRoutes) => {
    await admitAgents(scope, (bearer) => credentials.authenticateAgent(bearer), rateLimit);
    unmanagedRoutes(scope, { routers });
  },
});
