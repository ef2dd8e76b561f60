import type { CredentialsService } from '../../access/credentials/service.ts';
import { feature } from '../../feature.ts';
import type { Platform } from '../../feature.ts';
import type { AgentEpochs } from '../../fleet/agents/epochs.ts';
import type { AgentHolders } from '../../fleet/agents/holders.ts';
import type { SessionsService } from '../../fleet/sessions/service.ts';
import { RemoteAgents } from '../../platform/nodes/remote-agents.ts';
import type { AgentGateway } from '../../platform/core/agent-gateway.ts';
import { TunnelRegistry } from '../../platform/tunnel/registry.ts';
import { CLUSTER_TUNNEL_SETTINGS } from '../../platform/tunnel/types.ts';
import { AgentEventFanOut } from './agent-events.ts';

interface Needs extends Pick<Platform, 'config' | 'clock' | 'log' | 'counters' | 'cluster'> {
  credentials: CredentialsService;
  agentEpochs: AgentEpochs;
  agentHolders: AgentHolders | null;
  sessions: SessionsService;
}

/**
 * Agents of a control plane that was killed dial the others over this time: 2 ms for each of them, so 500 come in a second. All shall be
 * connected again within 30 s.
 */
const SPREAD_EACH_MS = 2;
const SHORTEST_SPREAD_MS = 1000;
const LONGEST_SPREAD_MS = 15_000;

/** The gateway to connected agents. Features call it, and its tunnels call the features, so `agentEvents` is connected last. */
export const tunnels = feature({
  create: ({ config, clock, log, counters, cluster, credentials, agentEpochs, agentHolders, sessions }: Needs) => {
    const agentEvents = new AgentEventFanOut();
    const spreadMs = (): number => Math.min(LONGEST_SPREAD_MS, Math.max(SHORTEST_SPREAD_MS, tunnelRegistry.size * SPREAD_EACH_MS));
    const tunnelRegistry = new TunnelRegistry({
      callbacks: {
        authenticateAgent: (bearer) => credentials.authenticateAgent(bearer),
        beginSession: (begin) => agentEpochs.assign(begin),
        confirmSession: async (agentId, epoch, journalId) => {
          const counts = await agentEpochs.confirm(agentId, epoch, journalId);
          if (!counts) return false;
          remoteAgents?.announce(agentId, epoch);
          agentHolders?.onStored(agentId);
          return true;
        },
        endSession: async (agentId, epoch) => {
          await agentEpochs.end(agentId, epoch);
          agentHolders?.onStored(agentId);
        },
        events: agentEvents,
        tunnels: sessions,
      },
      clock,
      log: log.child({ component: 'tunnel' }),
      settings: { heartbeatMs: config.heartbeatMs, ...(cluster ? { ...CLUSTER_TUNNEL_SETTINGS, reconnectSpreadMs: spreadMs } : {}) },
      counters,
    });
    const remoteAgents =
      cluster && agentHolders
        ? new RemoteAgents({
            ...cluster,
            local: tunnelRegistry,
            holder: (agentId) => agentEpochs.holder(agentId),
            isElsewhere: (agentId) => agentHolders.isElsewhere(agentId),
            clock,
            counters,
          })
        : undefined;
    const gateway: AgentGateway = remoteAgents ?? tunnelRegistry;
    return { tunnelRegistry, remoteAgents, gateway, agentEvents };
  },
  stop: ({ remoteAgents }) => remoteAgents?.stop(),
});
