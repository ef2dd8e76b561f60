import type { CredentialsService } from '../../access/credentials/service.ts';
import { feature } from '../../feature.ts';
import type { Platform } from '../../feature.ts';
import type { AgentSessions } from '../../fleet/agents/sessions.ts';
import type { SessionsService } from '../../fleet/sessions/service.ts';
import { TunnelRegistry } from '../../platform/tunnel/registry.ts';
import { AgentEventFanOut } from './agent-events.ts';

interface Needs extends Pick<Platform, 'config' | 'clock' | 'log' | 'counters'> {
  credentials: CredentialsService;
  agentSessions: AgentSessions;
  sessions: SessionsService;
}

/** The gateway to connected agents. Features call it, and its tunnels call the features, so `agentEvents` is connected last. */
export const tunnels = feature({
  create: ({ config, clock, log, counters, credentials, agentSessions, sessions }: Needs) => {
    const agentEvents = new AgentEventFanOut();
    const gateway = new TunnelRegistry({
      callbacks: {
        authenticateAgent: (bearer) => credentials.authenticateAgent(bearer),
        beginSession: (begin) => agentSessions.begin(begin),
        confirmSession: (agentId, epoch, journalId) => agentSessions.confirm(agentId, epoch, journalId),
        endSession: (agentId, epoch) => agentSessions.end(agentId, epoch),
        events: agentEvents,
        tunnels: sessions,
      },
      clock,
      log: log.child({ component: 'tunnel' }),
      settings: { heartbeatMs: config.heartbeatMs },
      counters,
    });
    return { gateway, agentEvents };
  },
});
