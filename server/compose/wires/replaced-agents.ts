import { feature } from '../../feature.ts';
import type { Platform } from '../../feature.ts';
import type { AgentGateway } from '../../platform/core/agent-gateway.ts';
import type { ForwardsService } from '../../work/forwards/service.ts';

interface Needs extends Pick<Platform, 'log'> {
  tunnels: AgentGateway;
  forwards: ForwardsService;
}

/** What an agent carried ends when another machine takes its place. */
export const replacedAgents = feature({
  create: ({ tunnels, forwards, log }: Needs) => ({
    /**
     * The former agent has lost its credential: its tunnel and what it carries end. Never rejects: the new agent must learn its
     * secret, and an entry port that could not be noted as lost is cut all the same.
     */
    endReplacedAgent: async (teamId: string, agentId: string): Promise<void> => {
      tunnels.disconnect(agentId, 'revoked', 'replaced');
      await forwards.dropAgent(teamId, agentId, 'the agent was replaced').catch((error: unknown) => {
        log.warn({ err: error, agent_id: agentId }, 'not every forward of a replaced agent is noted as lost');
      });
    },
  }),
});
