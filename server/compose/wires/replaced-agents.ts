import { feature } from '../../feature.ts';
import type { Platform } from '../../feature.ts';
import type { AgentGateway } from '../../platform/core/agent-gateway.ts';
import type { ForwardsService } from '../../work/forwards/service.ts';
import type { TerminalsService } from '../../work/terminals/service.ts';

interface Needs extends Pick<Platform, 'log'> {
  gateway: AgentGateway;
  forwards: ForwardsService;
  terminals: TerminalsService;
}

/** Ends the connections of an agent that another machine replaces. */
export const replacedAgents = feature({
  create: ({ gateway, forwards, terminals, log }: Needs) => ({
    /**
     * Closes the tunnel of the replaced agent and everything it carries. Never rejects: the new agent must get its
     * secret, and an entry port is closed even if its loss could not be stored.
     */
    endReplacedAgent: async (teamId: string, agentId: string): Promise<void> => {
      gateway.disconnect(agentId, 'revoked', 'replaced');
      // Neither waits for the other: each writes how its connections ended.
      await Promise.all([
        terminals.dropAgent(teamId, agentId, 'the agent was replaced'),
        forwards.dropAgent(teamId, agentId, 'the agent was replaced').catch((error: unknown) => {
          log.warn({ err: error, agent_id: agentId }, 'the loss of some forwards of a replaced agent could not be stored');
        }),
      ]);
    },
  }),
});
