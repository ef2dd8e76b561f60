import { z } from 'zod';
import type { AgentsService } from '../../agents/service.ts';
import type { App } from '../../../platform/http/app.ts';
import { principalOf } from '../../../platform/http/authentication.ts';
import { commonErrors, envelope, success } from '../../../platform/http/envelope.ts';
import { pathId } from '../../../platform/http/fields.ts';
import type { RoutersService } from '../service.ts';
import type { AgentEntry } from '../types.ts';

const host = z.string().nullable().describe('Where the agent reaches it; null when the agent has not said');
const entrySchema = z
  .object({
    name: z.string().describe("The router's name in the agent's configuration"),
    host,
    router_id: z
      .string()
      .nullable()
      .describe('Null while it is not known which router answers there, while it waits in /api/router-moves, and for a duplicate'),
    reachable: z.boolean().describe('It answers the agent'),
    reason: z
      .string()
      .nullable()
      .describe(
        'Why it does not answer, or why its inventory cannot be read or taken in; duplicate_serial: another entry has the router that it says it is',
      ),
    duplicate_of: z
      .object({ name: z.string(), host, router_id: z.string() })
      .nullable()
      .describe('The entry that reports the same hardware id and has the router'),
  })
  .meta({
    id: 'AgentRouter',
    examples: [
      {
        name: 'gw-depot',
        host: '192.0.2.2',
        router_id: null,
        reachable: true,
        reason: 'duplicate_serial',
        duplicate_of: { name: 'gw-store', host: '192.0.2.1', router_id: '01a1fb9c-376e-7279-a064-482cecad7b5b' },
      },
    ],
  });

const listSchema = z
  .object({ routers: z.array(entrySchema) })
  .meta({
    id: 'AgentRouters',
    examples: [
      {
        routers: [
          {
            name: 'gw-depot',
            host: '192.0.2.2',
            router_id: null,
            reachable: true,
            reason: 'inventory: not enough permissions',
            duplicate_of: null,
          },
        ],
      },
    ],
  });

/** What an agent has in its configuration, known to the list of routers or not. */
export interface AgentEntryRoutesDeps {
  routers: Pick<RoutersService, 'entriesOf'>;
  agents: Pick<AgentsService, 'get'>;
}

export function agentEntryRoutes(app: App, { routers, agents }: AgentEntryRoutesDeps): void {
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
      const { id } = await agents.get(teamId, request.params.agent_id);
      const entries = await routers.entriesOf(teamId, id);
      return success({ routers: entries.map(present) });
    },
  );
}

function present({ name, host: address, routerId, reachable, reason, duplicateOf }: AgentEntry): z.infer<typeof entrySchema> {
  const other = duplicateOf && { name: duplicateOf.name, host: duplicateOf.host, router_id: duplicateOf.routerId };
  return { name, host: address, router_id: routerId, reachable, reason, duplicate_of: other };
}
