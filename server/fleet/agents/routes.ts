import { z } from 'zod';
import type { CredentialsService } from '../../access/credentials/service.ts';
import type { EnrolToken } from '../../access/credentials/types.ts';
import type { AgentGateway } from '../../platform/core/agent-gateway.ts';
import type { App } from '../../platform/http/app.ts';
import { principalOf } from '../../platform/http/authentication.ts';
import { commonErrors, dateTime, envelope, success, toDateTime, toDateTimeOrNull } from '../../platform/http/envelope.ts';
import { problemSchema } from '../../platform/http/error-handler.ts';
import { nameField, pathId, uuidField } from '../../platform/http/fields.ts';
import { linkNext, pageQuery, readPage } from '../../platform/http/pagination.ts';
import type { AgentsService } from './service.ts';
import type { Agent } from './types.ts';
import { TUNNEL_ENDS } from '../../platform/core/tunnel-record.ts';
import type { SessionsService } from '../sessions/service.ts';
import type { AgentLine } from '../sessions/types.ts';
import type { SitesService } from '../sites/service.ts';
import type { RemovalsService } from '../removals/service.ts';

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
  removed_at: null,
  address: '203.0.113.7',
  epoch: 17,
  since: '2031-05-01T08:30:00.000Z',
  round_trip_ms: 13.9,
  router_count: 3,
  sessions_24h: 2,
  last_ended_by: 'silence' as const,
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
  replaces_agent_id: null,
};

const agentSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    site_id: z.string().nullable(),
    version: z.string().nullable().describe('Version of the agent program; null before its first connection'),
    connected: z.boolean().describe('Its tunnel is up'),
    connected_at: dateTime.nullable(),
    disconnected_at: dateTime.nullable(),
    created_at: dateTime,
    revoked_at: dateTime.nullable(),
    removed_at: dateTime.nullable().describe('When it was removed; null while it belongs to the team'),
    address: z.string().nullable().describe('Of its session, or of its last one, as the control plane sees it'),
    epoch: z.int().nullable().describe('Of its session; null while it is away'),
    since: dateTime.nullable().describe('Since when it is connected, or away; null before its first session'),
    round_trip_ms: z.number().nullable().describe('To the agent and back, measured last in its session, every 20 to 25 s; milliseconds'),
    router_count: z.int(),
    sessions_24h: z.int().describe('Sessions opened in the last 24 hours'),
    last_ended_by: z.enum(TUNNEL_ENDS).nullable().describe('How its last session ended that has ended'),
  })
  .meta({ id: 'Agent', examples: [agentExample] });

const tokenSchema = z
  .object({
    id: z.string(),
    site_id: z.string().nullable().describe('Site of the agent and its routers'),
    created_at: dateTime,
    expires_at: dateTime,
    status: z.enum(['open', 'used', 'expired', 'revoked']),
    used_at: dateTime.nullable(),
    revoked_at: dateTime.nullable(),
    agent_id: z.string().nullable().describe('The agent that enrolled with it'),
    replaces_agent_id: z.string().nullable().describe('The agent that the newly enrolled one replaces'),
  })
  .meta({ id: 'EnrolToken', examples: [tokenExample] });
const madeTokenSchema = tokenSchema
  .extend({ token: z.string().describe('For `signalbox-agent enrol`, once; shown only here') })
  .meta({ id: 'NewlyMadeEnrolToken', examples: [{ ...tokenExample, token: `sbx_enr_${'x'.repeat(62)}` }] });

const changeBody = z
  .object({ name: nameField.optional(), site_id: uuidField.nullable().optional().describe('Its new site; null: no site') })
  .meta({ id: 'AgentChange', examples: [{ name: 'gw-depot', site_id: agentExample.site_id }] });

const newTokenBody = z
  .object({
    site_id: uuidField.nullable().optional().describe('Site of the agent and its routers'),
    replaces_agent_id: uuidField.optional().describe('The new agent replaces this one and takes over its id, name, site and routers'),
  })
  .meta({ id: 'NewEnrolToken', examples: [{ site_id: agentExample.site_id }, { replaces_agent_id: agentExample.id }] });

type Gateway = Pick<AgentGateway, 'isConnected' | 'disconnect'>;

export interface AgentRoutesDeps {
  agents: AgentsService;
  sessions: Pick<SessionsService, 'lines'>;
  credentials: CredentialsService;
  gateway: Gateway;
  sites: SitesService;
  removals: Pick<RemovalsService, 'removeAgent'>;
  /** Awaited before the response: everything else that ran through the agent must end. */
  onRevoked?: (teamId: string, agentId: string) => Promise<void>;
}

/** Agents and their enrolment tokens. */
export function agentRoutes(app: App, deps: AgentRoutesDeps): void {
  agentList(app, deps);
  oneAgent(app, deps);
  agentRevocation(app, deps);
  tokenList(app, deps.credentials);
  tokenCreation(app, deps.credentials);
  tokenRevocation(app, deps.credentials);
}

function agentList(app: App, deps: AgentRoutesDeps): void {
  app.get(
    '/api/agents',
    {
      schema: {
        tags: ['agents'],
        summary: 'List the agents of the team, newest first, revoked ones included',
        querystring: pageQuery.extend({ removed: z.enum(['true', 'false']).optional().describe('true: list only removed agents') }),
        response: { 200: envelope(z.array(agentSchema)), ...commonErrors },
      },
    },
    async (request, reply) => {
      const page = readPage(request.query);
      const { teamId } = principalOf(request);
      const agents = await deps.agents.list(teamId, page, request.query.removed === 'true');
      linkNext(request, reply, page, agents, (agent) => ({ at: agent.createdAt, id: agent.id }));
      return success(await presentAgents(teamId, agents, deps));
    },
  );
}

function oneAgent(app: App, deps: AgentRoutesDeps): void {
  const { agents, sites } = deps;
  const params = z.object({ agent_id: pathId });
  const response = { 200: envelope(agentSchema), ...commonErrors };
  const read = async (teamId: string, agentId: string) => {
    const [agent] = await presentAgents(teamId, [await agents.get(teamId, agentId)], deps);
    return success(agent!);
  };
  app.get('/api/agents/:agent_id', { schema: { tags: ['agents'], summary: 'Read one agent', params, response } }, async (request) =>
    read(principalOf(request).teamId, request.params.agent_id),
  );

  app.patch(
    '/api/agents/:agent_id',
    {
      config: { role: 'admin' },
      schema: {
        tags: ['agents'],
        summary: 'Rename an agent, or move it to another site',
        description: "Routers at the agent's former site move with it, together with their devices. Routers at another site stay there.",
        params,
        body: changeBody,
        response,
      },
    },
    async (request) => {
      const { teamId } = principalOf(request);
      const { name, site_id: siteId } = request.body;
      const change = { ...(name === undefined ? {} : { name }), ...(siteId === undefined ? {} : { siteId }) };
      await sites.changeAgent(teamId, request.params.agent_id, change);
      const answer = await read(teamId, request.params.agent_id);
      request.auditDetail = answer.data.name;
      return answer;
    },
  );
}

function agentRevocation(app: App, { credentials, gateway, removals, onRevoked }: AgentRoutesDeps): void {
  app.delete(
    '/api/agents/:agent_id',
    {
      config: { role: 'admin' },
      schema: {
        tags: ['agents'],
        operationId: 'revokeAgent',
        summary: 'Revoke an agent: its tunnel closes and its credential is rejected',
        description:
          'With `remove=true` the request also removes the routers that only this agent manages, each as `DELETE /api/routers/{router_id}` ' +
          'does, and then the agent itself. While another agent manages or reports one of the routers, that router and the agent stay: the ' +
          'response is 409 and the agent is revoked; repeat the request later to finish. The request is idempotent.',
        params: z.object({ agent_id: pathId }),
        querystring: z.object({
          remove: z.enum(['true', 'false']).optional().describe('true: also remove the agent and the routers that only it manages'),
        }),
        response: {
          204: z.null().describe('The agent is revoked'),
          ...commonErrors,
          409: problemSchema.describe(
            'The agent is revoked, but one of its routers cannot be removed yet; `detail` names it and the reason',
          ),
        },
      },
    },
    async (request, reply) => {
      const { teamId } = principalOf(request);
      const { agent_id: agentId } = request.params;
      await credentials.revokeAgent(teamId, agentId, gateway);
      await onRevoked?.(teamId, agentId);
      if (request.query.remove === 'true') {
        const count = await removals.removeAgent(teamId, agentId);
        request.auditDetail = `removed, with routers: ${count}`;
      }
      return reply.code(204).send(null);
    },
  );
}

function tokenList(app: App, credentials: CredentialsService): void {
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
      const tokens = await credentials.listEnrolTokens(principalOf(request).teamId, page);
      linkNext(request, reply, page, tokens, (token) => ({ at: token.createdAt, id: token.id }));
      return success(tokens.map((token) => presentToken(credentials, token)));
    },
  );
}

function tokenCreation(app: App, credentials: CredentialsService): void {
  app.post(
    '/api/enrol-tokens',
    {
      config: { role: 'admin', secretAnswer: true },
      schema: {
        tags: ['agents'],
        summary: 'Create an enrolment token for one agent, valid for 24 hours',
        description:
          'With `replaces_agent_id` the new agent replaces that one and keeps its id, name, site and routers. Using the token revokes the ' +
          "former agent's credential, closes its tunnel and forwards, and revokes other tokens that replace the same agent. Queued jobs " +
          'run on the new agent. Jobs that the former agent had accepted become `unknown`, unless the new agent has its state folder.',
        body: newTokenBody.nullish(),
        response: { 200: envelope(madeTokenSchema), ...commonErrors },
      },
    },
    async (request, reply) => {
      const { teamId } = principalOf(request);
      const { site_id: siteId = null, replaces_agent_id: replacesAgentId } = request.body ?? {};
      const { record, token } = await credentials.createEnrolToken({ teamId, siteId, replacesAgentId });
      if (replacesAgentId !== undefined) request.auditDetail = `to replace agent ${replacesAgentId}`;
      reply.header('cache-control', 'no-store');
      return success({ ...presentToken(credentials, record), token });
    },
  );
}

function tokenRevocation(app: App, credentials: CredentialsService): void {
  app.delete(
    '/api/enrol-tokens/:token_id',
    {
      config: { role: 'admin' },
      schema: {
        tags: ['agents'],
        operationId: 'revokeEnrolToken',
        summary: 'Revoke an unused enrolment token',
        params: z.object({ token_id: pathId }),
        response: {
          204: z.null().describe('The token is revoked'),
          ...commonErrors,
          409: problemSchema.describe('The token has been used; revoke the agent instead'),
        },
      },
    },
    async (request, reply) => {
      await credentials.revokeEnrolToken(principalOf(request).teamId, request.params.token_id);
      return reply.code(204).send(null);
    },
  );
}

async function presentAgents(
  teamId: string,
  agents: readonly Agent[],
  { sessions, gateway }: Pick<AgentRoutesDeps, 'sessions' | 'gateway'>,
) {
  const lines = await sessions.lines(
    teamId,
    agents.map(({ id }) => id),
  );
  return agents.map((agent) => presentAgent(agent, gateway.isConnected(agent.id), lines.get(agent.id)));
}

function presentAgent(agent: Agent, connected: boolean, line: AgentLine | undefined): z.infer<typeof agentSchema> {
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
    removed_at: toDateTimeOrNull(agent.removedAt),
    address: line?.address ?? null,
    epoch: line?.epoch ?? null,
    since: toDateTimeOrNull(line?.since ?? null),
    round_trip_ms: line?.roundTripMs ?? null,
    router_count: line?.routerCount ?? 0,
    sessions_24h: line?.sessions24h ?? 0,
    last_ended_by: line?.lastEndedBy ?? null,
  };
}

function presentToken(credentials: CredentialsService, token: EnrolToken): z.infer<typeof tokenSchema> {
  return {
    id: token.id,
    site_id: token.siteId,
    created_at: toDateTime(token.createdAt),
    expires_at: toDateTime(token.expiresAt),
    status: credentials.enrolTokenStatus(token),
    used_at: toDateTimeOrNull(token.usedAt),
    revoked_at: toDateTimeOrNull(token.revokedAt),
    agent_id: token.agentId,
    replaces_agent_id: token.replacesAgentId,
  };
}
