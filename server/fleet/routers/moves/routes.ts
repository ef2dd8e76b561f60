import { z } from 'zod';
import type { App } from '../../../platform/http/app.ts';
import { principalOf } from '../../../platform/http/authentication.ts';
import { commonErrors, dateTime, envelope, success, toDateTime } from '../../../platform/http/envelope.ts';
import { pathId } from '../../../platform/http/fields.ts';
import { linkNext, pageQuery, readPage } from '../../../platform/http/pagination.ts';
import type { RouterMoves } from './service.ts';
import type { ListedMove } from './types.ts';

const agentSchema = z.object({ id: z.string(), name: z.string() });
const moveSchema = z
  .object({
    id: z.string(),
    state: z.enum(['pending', 'refused']).describe('refused: an administrator has refused the move; it can still be approved'),
    router_id: z.string(),
    identity: z.string(),
    hardware_id: z.string(),
    to_agent: agentSchema.describe('The agent that reports the router now'),
    to_name: z.string().describe("The router's name in that agent's configuration"),
    to_address: z.string().describe("Source address of that agent's tunnel"),
    from_agent: agentSchema.describe('The agent that has the router'),
    created_at: dateTime,
  })
  .meta({
    id: 'RouterMove',
    examples: [
      {
        id: '01a1fb9e-0d17-7c67-8668-501e0fbecc7f',
        state: 'pending' as const,
        router_id: '01a1fb9c-376e-7279-a064-482cecad7b5b',
        identity: 'gw-depot',
        hardware_id: 'HEX0A1B2C3D',
        to_agent: { id: '01a1fb91-22bb-7e3d-8a1f-4b2d6f8c0e35', name: 'depot-new' },
        to_name: 'gw-depot',
        to_address: '203.0.113.7',
        from_agent: { id: '01a1fb90-11aa-7d2c-9f0e-3a1c5e7b9d24', name: 'depot' },
        created_at: '2031-05-01T08:30:00.000Z',
      },
    ],
  });
const decisionSchema = z
  .object({ id: z.string(), state: z.enum(['approved', 'refused']) })
  .meta({ id: 'RouterMoveDecision', examples: [{ id: '01a1fb9e-0d17-7c67-8668-501e0fbecc7f', state: 'approved' as const }] });
const tags = ['routers'];

/** Claims of agents on routers that belong to another agent of the team. */
export function routerMoveRoutes(app: App, { moves }: { moves: RouterMoves }): void {
  app.get(
    '/api/router-moves',
    {
      schema: {
        tags,
        operationId: 'listRouterMoves',
        summary: 'List moves of routers between agents that wait for a decision or were refused, newest first',
        description:
          'An agent that reports a router of another agent cannot use it until the other agent is revoked, no longer has it, or has ' +
          'been offline for SIGNALBOX_ROUTER_MOVE_AFTER_SECONDS, or until an administrator approves the move here.',
        querystring: pageQuery,
        response: { 200: envelope(z.array(moveSchema)), ...commonErrors },
      },
    },
    async (request, reply) => {
      const page = readPage(request.query);
      const list = await moves.list(principalOf(request).teamId, page);
      linkNext(request, reply, page, list, ({ created_at: at, id }) => ({ at, id }));
      return success(list.map(present));
    },
  );
  decision(app, moves, 'approve', 'Approve a move: the agent that reports the router gets it at once');
  decision(app, moves, 'refuse', 'Refuse a move: the router stays with its agent, and the same claim is not announced again');
}

function decision(app: App, moves: RouterMoves, verb: 'approve' | 'refuse', summary: string): void {
  app.post(
    `/api/router-moves/:move_id/${verb}`,
    {
      config: { role: 'admin' },
      schema: {
        tags,
        operationId: `${verb}RouterMove`,
        summary,
        params: z.object({ move_id: pathId }),
        response: { 200: envelope(decisionSchema), ...commonErrors },
      },
    },
    async (request) => {
      const { move_id: id } = request.params;
      const state = verb === 'approve' ? ('approved' as const) : ('refused' as const);
      await moves.decide(principalOf(request).teamId, id, state);
      return success({ id, state });
    },
  );
}

function present(move: ListedMove): z.infer<typeof moveSchema> {
  return {
    id: move.id,
    state: move.state === 'refused' ? 'refused' : 'pending',
    router_id: move.router_id,
    identity: move.identity,
    hardware_id: move.hardware_id,
    to_agent: { id: move.agent_id, name: move.agent_name },
    to_name: move.agent_router,
    to_address: move.address,
    from_agent: { id: move.owner_id, name: move.owner_name },
    created_at: toDateTime(move.created_at),
  };
}
