import { feature } from '../../feature.ts';
import type { Platform } from '../../feature.ts';
import { AGENTS_APART_MS } from '../../platform/core/gathered.ts';
import { agentRoutes } from './routes.ts';
import type { AgentRoutesDeps } from './routes.ts';
import { AgentsService } from './service.ts';
import { AgentEpochs } from './epochs.ts';
import { AgentHolders } from './holders.ts';
import { WatchRights } from './watch-rights.ts';

interface Routes extends Pick<AgentRoutesDeps, 'agents' | 'credentials' | 'sessions' | 'sites' | 'removals'> {
  gateway: AgentRoutesDeps['gateway'];
  revocations: { enforce(teamId: string): Promise<void> };
}

export const agents = feature({
  create: ({ storage, clock, log, cluster }: Pick<Platform, 'storage' | 'clock' | 'log' | 'cluster'>) => ({
    agents: new AgentsService(storage),
    agentEpochs: new AgentEpochs(storage, clock, AGENTS_APART_MS, cluster?.nodeId),
    /** Both null for a control plane that serves its database alone. */
    agentHolders: cluster && new AgentHolders({ storage, clock, log: log.child({ component: 'agents' }), cluster }),
    watchRights: cluster && new WatchRights(cluster.nodeId),
  }),
  start: ({ agentHolders }) => agentHolders?.start(),
  stop: async ({ agentEpochs, agentHolders }) => {
    await agentHolders?.stop();
    await agentEpochs.stop();
  },
  routes: (scope, { gateway, revocations, ...services }: Routes) =>
    agentRoutes(scope, { ...services, gateway, onRevoked: (teamId) => revocations.enforce(teamId) }),
});
