import { AppError } from '../core/errors.ts';
import type { App } from './app.ts';
import { bearerOf } from './authentication.ts';
import { limitRequests } from './rate-limit.ts';
import type { RateLimit } from './rate-limit.ts';

/** An authenticated agent. */
export interface AgentCaller {
  agentId: string;
  teamId: string;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set on routes for agents; null for other callers. */
    agentCaller: AgentCaller | null;
  }
}

/** Finds the agent of a credential; undefined for every other kind of credential. */
export type AuthenticateAgent = (bearer: string) => Promise<AgentCaller | undefined>;

/** Admits only agents to `scope`. Rate limits count each agent by itself and unauthenticated callers by network. */
export async function admitAgents(scope: App, authenticate: AuthenticateAgent, limit: RateLimit): Promise<void> {
  scope.decorateRequest('agentCaller', null);
  scope.addHook('onRequest', async (request) => {
    const bearer = bearerOf(request.headers.authorization);
    request.agentCaller = (bearer === undefined ? undefined : await authenticate(bearer)) ?? null;
  });
  await limitRequests(scope, 'agents', {
    ...limit,
    nameOf: ({ agentCaller }) => (agentCaller === null ? undefined : `agent:${agentCaller.agentId}`),
  });
  scope.addHook('onRequest', async (request) => {
    if (request.agentCaller === null)
      throw new AppError('unauthenticated', 'the credential is not that of an agent, or the agent was revoked');
  });
}
