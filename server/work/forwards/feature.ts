import { feature } from '../../feature.ts';
import type { Platform } from '../../feature.ts';
import type { RoutersService } from '../../fleet/routers/service.ts';
import type { AgentGateway } from '../../platform/core/agent-gateway.ts';
import { AGENTS_APART_MS } from '../../platform/core/gathered.ts';
import { trustedProxies } from '../../platform/http/client-address.ts';
import { ConnectEndpoint } from './connect/endpoint.ts';
import { connectRoute } from './connect/routes.ts';
import type { ConnectRouteDeps } from './connect/routes.ts';
import { forwardConnectionRoutes } from './connections/routes.ts';
import { teamForwardsRoute } from './list/routes.ts';
import { FORWARD_LIMITS } from './limits.ts';
import { forwardMeasures } from './measures.ts';
import { forwardRoutes } from './routes.ts';
import { ForwardsService } from './service.ts';

export { isConnectRequest } from './connect/routes.ts';

interface Needs extends Pick<Platform, 'config' | 'storage' | 'clock' | 'log' | 'counters' | 'cluster'> {
  agentEpochs: { holder(agentId: string): Promise<string | undefined> };
  routers: RoutersService;
  gateway: AgentGateway;
}

interface Routes extends Omit<ConnectRouteDeps, 'endpoint' | 'authenticate'>, Pick<Platform, 'config' | 'now'> {
  connectEndpoint: ConnectRouteDeps['endpoint'];
  connectedCaller: ConnectRouteDeps['authenticate'];
}

export const forwards = feature({
  create: ({ config, storage, clock, log, counters, cluster, agentEpochs, routers, gateway }: Needs) => ({
    forwards: new ForwardsService({
      storage,
      routers,
      gateway,
      clock,
      log: log.child({ component: 'forwards' }),
      counters,
      agentsApartMs: AGENTS_APART_MS,
      cluster: cluster &&
        config.cluster && { ...cluster, channelUrl: config.cluster.nodeUrl, holder: (agentId) => agentEpochs.holder(agentId) },
      limits: { ...FORWARD_LIMITS, keepConnectionsMs: config.keepConnectionsMs },
      settings: {
        host: config.forwards.host,
        listen: config.forwards.listen,
        ports: { from: config.forwards.ports.first, to: config.forwards.ports.last },
        allowPrivateSources: config.allowPrivateSources,
        idleSeconds: config.forwards.idleSeconds,
        isProxy: config.forwards.proxies.length > 0 ? trustedProxies(config.forwards.proxies) : undefined,
        names: config.forwards.names ?? undefined,
      },
    }),
    connectEndpoint: new ConnectEndpoint(clock),
  }),
  start: async ({ forwards }) => {
    try {
      await forwards.start();
    } catch (error) {
      // Some entry ports may be open.
      await forwards.stop();
      throw error;
    }
  },
  stop: (own) => own.forwards.stop(),
  agentListener: ({ forwards }) => ({
    onReady: (connection) => forwards.onReady(connection),
    onForwardLost: (connection, forwardId, reason) => forwards.onForwardLost(connection, forwardId, reason),
  }),
  measures: ({ forwards }) => ({ shares: { forward_ports: forwards.portsUse }, ...forwardMeasures(() => forwards.traffic()) }),
  routes: (scope, { connectEndpoint, connectedCaller, config, ...services }: Routes) => {
    forwardRoutes(scope, { ...services, allowPrivateSources: config.allowPrivateSources });
    teamForwardsRoute(scope, services);
    forwardConnectionRoutes(scope, services);
    connectRoute(scope, { ...services, endpoint: connectEndpoint, authenticate: connectedCaller });
  },
});
