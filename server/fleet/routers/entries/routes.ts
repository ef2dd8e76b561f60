import { z } from 'zod';
import type { AgentsService } from '../../agents/service.ts';
import type { App } from '../../../platform/http/app.ts';
import { principalOf } from '../../../platform/http/authentication.ts';
import { commonErrors, envelope, success } from '../../../platform/http/envelope.ts';
import { pathId } from '../../../platform/http/fields.ts';
import type { RoutersService } from '../service.ts';
import type { AgentEntry } from '../types.ts';

const host = z.string().nullable().describe('Address at which the agent reaches it; null when not reported');
const entrySchema = z
  .object({
    name: z.string().describe("The router's name in the agent's configuration"),
    host,
    router_id: z
      .string()
      .nullable()
      .describe('Null while the router is unknown, while its move waits for approval in /api/router-moves, and for a duplicate'),
    reachable: z.boolean().describe('The router answers the agent'),
    reason: z
      .string()
      .nullable()
      .describe(
        'Why it does not answer, or why its inventory cannot be read or was rejected; duplicate_serial: another entry already has this router',
      ),
    duplicate_of: z
      .object({ name: z.string(), host, router_id: z.string() })
      .nullable()
      .describe('The entry with the same hardware id that has the router'),
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

/** The entries of an agent's configuration, including those without a router in the list. */
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
        summary: "List the router entries of an agent's configuration, each with the reason why it does not answer or cannot be read",
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
