import { z } from 'zod';
import type { AuthService } from '../../access/keys/service.ts';
import type { Agent, EnrolToken } from '../../access/keys/types.ts';
import type { AgentGateway } from '../../platform/core/agent-gateway.ts';
import type { App } from '../../platform/http/app.ts';
import { principalOf } from '../../platform/http/authentication.ts';
import { commonErrors, dateTime, envelope, success, toDateTime, toDateTimeOrNull } from '../../platform/http/envelope.ts';
import { problemSchema } from '../../platform/http/error-handler.ts';
import { nameField, pathId, uuidField } from '../../platform/http/fields.ts';
import { linkNext, pageQuery, readPage } from '../../platform/http/pagination.ts';
import type { PlacesService } from '../sites/service.ts';

const agentExample = {
  id: '01a1fb9c-376e-7279-a064-482cecad7b5b',
  name: 'gw-depot',
  site_id: '01a1fb90-11aa-7d2c-9f0e-3a1c5e7b9d24',
  version: '0.1.0',
  connected: true,
  connected_at: '2031-05-01T08:30:00.000Z',
  disconnected_at: null,
  created_at: '2031-01-15T10:00:00.000Z',
  revoked_at: null,
};
const tokenExample = {
  id: '01a1fb9e-0d17-7c67-8668-501e0fbecc7f',
  site_id: agentExample.site_id,
  created_at: '2031-05-01T08:30:00.000Z',
  expires_at: '2031-05-02T08:30:00.000Z',
  status: 'open' as const,
  used_at: null,
  revoked_at: null,
  agent_id: null,
};

const agentSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    site_id: z.string().nullable(),
    version: z.string().nullable().describe('Of its program; null until it has connected'),
    connected: z.boolean().describe('Its tunnel is up'),
    connected_at: dateTime.nullable(),
    disconnected_at: dateTime.nullable(),
    created_at: dateTime,
    revoked_at: dateTime.nullable(),
  })
  .meta({ id: 'Agent', examples: [agentExample] });

const tokenSchema = z
  .object({
    id: z.string(),
    site_id: z.string().nullable().describe('Where the agent and its routers stand'),
    created_at: dateTime,
    expires_at: dateTime,
    status: z.enum(['open', 'used', 'expired', 'revoked']),
    used_at: dateTime.nullable(),
    revoked_at: dateTime.nullable(),
    agent_id: z.string().nullable().describe('Whom it enrolled'),
  })
  .meta({ id: 'EnrolToken', examples: [tokenExample] });
const madeTokenSchema = tokenSchema
  .extend({ token: z.string().describe('For `signalbox-agent enrol`, once; shown only here') })
  .meta({ id: 'NewlyMadeEnrolToken', examples: [{ ...tokenExample, token: `sbx_enr_${'x'.repeat(62)}` }] });

const changeBody = z
  .object({
    name: nameField.optional(),
    site_id: uuidField.nullable().optional().describe('Where it stands from now on; null: in no site'),
  })
  .meta({ id: 'AgentChange', examples: [{ name: 'gw-depot', site_id: agentExample.site_id }] });

type Gateway = Pick<AgentGateway, 'epoch' | 'disconnect'>;

interface AgentRoutesDeps {
  auth: AuthService;
  gateway: Gateway;
  places: PlacesService;
  /** Awaited before the answer: whatever else the agent carried has to end. */
  onRevoked?: (teamId: string, agentId: string) => Promise<void>;
}

/** Agents, and the tokens with which they enrol. */
export function agentRoutes(app: App, deps: AgentRoutesDeps): void {
  agentList(app, deps.auth, deps.gateway);
  oneAgent(app, deps);
  agentRevocation(app, deps);
  tokenList(app, deps.auth);
  tokenCreation(app, deps.auth);
  tokenRevocation(app, deps.auth);
}

function agentList(app: App, auth: AuthService, gateway: Gateway): void {
  app.get(
    '/api/agents',
    {
      schema: {
        tags: ['agents'],
        summary: 'List the agents of the team, newest first, revoked ones included',
        querystring: pageQuery,
        response: { 200: envelope(z.array(agentSchema)), ...commonErrors },
      },
    },
    async (request, reply) => {
      const page = readPage(request.query);
      const agents = await auth.listAgents(principalOf(request).teamId, page);
      linkNext(request, reply, page, agents, (agent) => ({ at: agent.createdAt, id: agent.id }));
      return success(agents.map((agent) => presentAgent(agent, gateway.epoch(agent.id) !== undefined)));
    },
  );
}

function oneAgent(app: App, { auth, gateway, places }: AgentRoutesDeps): void {
  const params = z.object({ agent_id: pathId });
  const response = { 200: envelope(agentSchema), ...commonErrors };
  const read = async (teamId: string, agentId: string) => success(presentAgent(await auth.getAgent(teamId, agentId), gateway.epoch(agentId) !== undefined));
  app.get('/api/agents/:agent_id', { schema: { tags: ['agents'], summary: 'Read one agent', params, response } }, async (request) =>
    read(principalOf(request).teamId, request.params.agent_id),
  );

  app.patch(
    '/api/agents/:agent_id',
    {
      config: { role: 'admin' },
      schema: {
        tags: ['agents'],
        summary: 'Rename an agent, or put it into another site',
        description: 'Routers that stand where the agent stood come along with their devices; those that were put elsewhere stay there.',
        params,
        body: changeBody,
        response,
      },
    },
    async (request) => {
      const { teamId } = principalOf(request);
      const { name, site_id: siteId } = request.body;
      const change = { ...(name === undefined ? {} : { name }), ...(siteId === undefined ? {} : { siteId }) };
      await places.changeAgent(teamId, request.params.agent_id, change);
      return read(teamId, request.params.agent_id);
    },
  );
}

function agentRevocation(app: App, { auth, gateway, onRevoked }: AgentRoutesDeps): void {
  app.delete(
    '/api/agents/:agent_id',
    {
      config: { role: 'admin' },
      schema: {
        tags: ['agents'],
        operationId: 'revokeAgent',
        summary: 'Revoke an agent: its tunnel is cut, and it is not let in again',
        params: z.object({ agent_id: pathId }),
        response: { 204: z.null().describe('Revoked, now or before'), ...commonErrors },
      },
    },
    async (request, reply) => {
      const { teamId } = principalOf(request);
      const { agent_id: agentId } = request.params;
      await auth.revokeAgent(teamId, agentId, gateway);
      await onRevoked?.(teamId, agentId);
      return reply.code(204).send(null);
    },
  );
}

function tokenList(app: App, auth: AuthService): void {
  app.get(
    '/api/enrol-tokens',
    {
      config: { role: 'admin' },
      schema: {
        tags: ['agents'],
        summary: 'List the enrolment tokens of the team, newest first, without their secrets',
        querystring: pageQuery,
        response: { 200: envelope(z.array(tokenSchema)), ...commonErrors },
      },
    },
    async (request, reply) => {
      const page = readPage(request.query);
      const tokens = await auth.listEnrolTokens(principalOf(request).teamId, page);
      linkNext(request, reply, page, tokens, (token) => ({ at: token.createdAt, id: token.id }));
      return success(tokens.map((token) => presentToken(auth, token)));
    },
  );
}

function tokenCreation(app: App, auth: AuthService): void {
  app.post(
    '/api/enrol-tokens',
    {
      config: { role: 'admin', secretAnswer: true },
      schema: {
        tags: ['agents'],
        summary: 'Create a token with which one agent enrols, within 24 hours',
        body: z.object({ site_id: uuidField.nullable().optional() }).meta({ id: 'NewEnrolToken' }).nullish(),
        response: { 200: envelope(madeTokenSchema), ...commonErrors },
      },
    },
    async (request, reply) => {
      const { teamId } = principalOf(request);
      const { record, token } = await auth.createEnrolToken({ teamId, siteId: request.body?.site_id ?? null });
      reply.header('cache-control', 'no-store');
      return success({ ...presentToken(auth, record), token });
    },
  );
}

function tokenRevocation(app: App, auth: AuthService): void {
  app.delete(
    '/api/enrol-tokens/:token_id',
    {
      config: { role: 'admin' },
      schema: {
        tags: ['agents'],
        operationId: 'revokeEnrolToken',
        summary: 'Revoke an enrolment token that was not used',
        params: z.object({ token_id: pathId }),
        response: {
          204: z.null().describe('Revoked, now or before'),
          ...commonErrors,
          409: problemSchema.describe('The token was used; revoke the agent'),
        },
      },
    },
    async (request, reply) => {
      await auth.revokeEnrolToken(principalOf(request).teamId, request.params.token_id);
      return reply.code(204).send(null);
    },
  );
}

function presentAgent(agent: Agent, connected: boolean): z.infer<typeof agentSchema> {
  return {
    id: agent.id,
    name: agent.name,
    site_id: agent.siteId,
    version: agent.version,
    connected,
    connected_at: toDateTimeOrNull(agent.connectedAt),
    disconnected_at: toDateTimeOrNull(agent.disconnectedAt),
    created_at: toDateTime(agent.createdAt),
    revoked_at: toDateTimeOrNull(agent.revokedAt),
  };
}

function presentToken(auth: AuthService, token: EnrolToken): z.infer<typeof tokenSchema> {
  return {
    id: token.id,
    site_id: token.siteId,
    created_at: toDateTime(token.createdAt),
    expires_at: toDateTime(token.expiresAt),
    status: auth.enrolTokenStatus(token),
    used_at: toDateTimeOrNull(token.usedAt),
    revoked_at: toDateTimeOrNull(token.revokedAt),
    agent_id: token.agentId,
  };
}
