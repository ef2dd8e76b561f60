import type { AuthService } from '../../access/keys/service.ts';
import { feature } from '../../feature.ts';
import type { Platform } from '../../feature.ts';
import type { AgentSessions } from '../../fleet/agents/service.ts';
import { TunnelRegistry } from '../../platform/tunnel/registry.ts';
import { AgentEventFanOut } from './agent-events.ts';

interface Needs extends Pick<Platform, 'config' | 'clock' | 'log' | 'counters'> {
  auth: AuthService;
  agents: AgentSessions;
}

/** The connected agents. Features need the tunnels, and tunnels call the features: `agentEvents` learns of them at the end. */
export const tunnels = feature({
  create: ({ config, clock, log, counters, auth, agents }: Needs) => {
    const agentEvents = new AgentEventFanOut();
    const tunnels = new TunnelRegistry({
      callbacks: {
        authenticateAgent: (bearer) => auth.authenticateAgent(bearer),
        beginSession: (begin) => agents.begin(begin),
        confirmSession: (agentId, epoch, journalId) => agents.confirm(agentId, epoch, journalId),
        endSession: (agentId, epoch) => agents.end(agentId, epoch),
        events: agentEvents,
      },
      clock,
      log: log.child({ component: 'tunnel' }),
      settings: { heartbeatMs: config.heartbeatMs },
      counters,
    });
    return { tunnels, agentEvents };
  },
});
