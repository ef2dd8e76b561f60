import type { CredentialsService } from '../../access/credentials/service.ts';
import { feature } from '../../feature.ts';
import type { Platform } from '../../feature.ts';
import type { AgentEpochs } from '../../fleet/agents/epochs.ts';
import type { SessionsService } from '../../fleet/sessions/service.ts';
import { RemoteAgents } from '../../platform/nodes/remote-agents.ts';
import type { AgentGateway } from '../../platform/core/agent-gateway.ts';
import { TunnelRegistry } from '../../platform/tunnel/registry.ts';
import { AgentEventFanOut } from './agent-events.ts';

interface Needs extends Pick<Platform, 'config' | 'clock' | 'log' | 'counters' | 'cluster'> {
  credentials: CredentialsService;
  agentEpochs: AgentEpochs;
  sessions: SessionsService;
}

/** The gateway to connected agents. Features call it, and its tunnels call the features, so `agentEvents` is connected last. */
export const tunnels = feature({
  create: ({ config, clock, log, counters, cluster, credentials, agentEpochs, sessions }: Needs) => {
    const agentEvents = new AgentEventFanOut();
    const tunnelRegistry = new TunnelRegistry({
      callbacks: {
        authenticateAgent: (bearer) => credentials.authenticateAgent(bearer),
        beginSession: (begin) => agentEpochs.assign(begin),
        confirmSession: async (agentId, epoch, journalId) => {
          const counts = await agentEpochs.confirm(agentId, epoch, journalId);
          if (counts) remoteAgents?.announce(agentId, epoch);
          return counts;
        },
        endSession: (agentId, epoch) => agentEpochs.end(agentId, epoch),
        events: agentEvents,
        tunnels: sessions,
      },
      clock,
      log: log.child({ component: 'tunnel' }),
      settings: { heartbeatMs: config.heartbeatMs },
      counters,
    });
    const remoteAgents = cluster
      ? new RemoteAgents({ ...cluster, local: tunnelRegistry, holder: (agentId) => agentEpochs.holder(agentId), clock, counters })
      : undefined;
    const gateway: AgentGateway = remoteAgents ?? tunnelRegistry;
    return { tunnelRegistry, gateway, agentEvents };
  },
});
