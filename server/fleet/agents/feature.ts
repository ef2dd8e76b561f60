import { feature } from '../../feature.ts';
import type { Platform } from '../../feature.ts';
import { AGENTS_APART_MS } from '../../platform/core/gathered.ts';
import { agentRoutes } from './routes.ts';
import type { AgentRoutesDeps } from './routes.ts';
import { AgentsService } from './service.ts';
import { AgentEpochs } from './epochs.ts';

interface Routes extends Pick<AgentRoutesDeps, 'agents' | 'credentials' | 'sessions' | 'sites' | 'removals'> {
  gateway: AgentRoutesDeps['gateway'];
  revocations: { enforce(teamId: string): Promise<void> };
}

export const agents = feature({
  create: ({ storage, clock, cluster }: Pick<Platform, 'storage' | 'clock' | 'cluster'>) => ({
    agents: new AgentsService(storage),
    agentEpochs: new AgentEpochs(storage, clock, AGENTS_APART_MS, cluster?.nodeId),
  }),
  stop: ({ agentEpochs }) => agentEpochs.stop(),
  routes: (scope, { gateway, revocations, ...services }: Routes) =>
    agentRoutes(scope, { ...services, gateway, onRevoked: (teamId) => revocations.enforce(teamId) }),
});
