import { AppError } from '../core/errors.ts';
import type { App } from './app.ts';
import { bearerOf } from './authentication.ts';
import { limitRequests } from './rate-limit.ts';
import type { RateLimit } from './rate-limit.ts';

/** An agent that has shown its secret. */
export interface AgentCaller {
  agentId: string;
  teamId: string;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set on routes for agents; null for everybody else. */
    agentCaller: AgentCaller | null;
  }
}

/** Tells whose agent credential this is; undefined for every other kind of credential. */
export type AuthenticateAgent = (bearer: string) => Promise<AgentCaller | undefined>;

/** Lets only agents into `scope`. Each agent is limited by itself, strangers by their network. */
export async function admitAgents(scope: App, authenticate: AuthenticateAgent, limit: RateLimit): Promise<void> {
  scope.decorateRequest('agentCaller', null);
  scope.addHook('onRequest', async (request) => {
    const bearer = bearerOf(request.headers.authorization);
    request.agentCaller = (bearer === undefined ? undefined : await authenticate(bearer)) ?? null;
  });
  await limitRequests(scope, {
    ...limit,
    nameOf: ({ agentCaller }) => (agentCaller === null ? undefined : `agent:${agentCaller.agentId}`),
  });
  scope.addHook('onRequest', async (request) => {
    if (request.agentCaller === null)
      throw new AppError('unauthenticated', 'the credential is not that of an agent, or the agent was revoked');
  });
}
