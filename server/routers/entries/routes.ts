import { z } from 'zod';
import type { AuthService } from '../../auth/service.ts';
import type { App } from '../../http/app.ts';
import { principalOf } from '../../http/authentication.ts';
import { commonErrors, envelope, success } from '../../http/envelope.ts';
import { pathId } from '../../http/fields.ts';
import type { RoutersService } from '../service.ts';

const entrySchema = z
  .object({
    name: z.string().describe("The router's name in the agent's configuration"),
    router_id: z.string().nullable().describe('Null while it is not known which router answers there, or while it waits in /api/router-moves'),
    reachable: z.boolean().describe('It answers the agent'),
    reason: z.string().nullable().describe('Why it does not answer, or why its inventory cannot be read'),
  })
  .meta({
    id: 'AgentRouter',
    examples: [{ name: 'gw-depot', router_id: null, reachable: true, reason: 'inventory: the router shows neither a serial number nor a software id: does the user have the policy read?' }],
  });

const listSchema = z
  .object({ routers: z.array(entrySchema) })
  .meta({ id: 'AgentRouters', examples: [{ routers: [{ name: 'gw-depot', router_id: null, reachable: true, reason: 'inventory: not enough permissions' }] }] });

/** What an agent has in its configuration, known to the list of routers or not. */
export function agentEntryRoutes(app: App, { routers, auth }: { routers: Pick<RoutersService, 'entriesOf'>; auth: Pick<AuthService, 'getAgent'> }): void {
  app.get(
    '/api/agents/:agent_id/routers',
    {
      schema: {
        tags: ['agents'],
        operationId: 'listAgentRouters',
        summary: 'List the routers of an agent by their names there, with the reason why one does not answer or cannot be read',
        params: z.object({ agent_id: pathId }),
        response: { 200: envelope(listSchema), ...commonErrors },
      },
    },
    async (request) => {
      const { teamId } = principalOf(request);
      const { id } = await auth.getAgent(teamId, request.params.agent_id);
      const entries = await routers.entriesOf(teamId, id);
      return success({ routers: entries.map(({ name, routerId, reachable, reason }) => ({ name, router_id: routerId, reachable, reason })) });
    },
  );
}
