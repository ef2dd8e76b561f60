import { AppError } from '../core/errors.ts';
import type { App } from './app.ts';
import { bearerOf } from './authentication.ts';
import { limitRequests } from './rate-limit.ts';
import type { RateLimit } from './rate-limit.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Id of the service token on internal routes; null without one. */
    serviceId: string | null;
  }
}

/** Finds the service token of a credential; undefined for every other kind of credential. */
export type AuthenticateService = (bearer: string) => Promise<{ id: string } | undefined>;

/**
 * Makes `scope` internal (docs/interface.md, service token): admits only service tokens. They belong to no team, so there is no
 * principal, and no route can return a team's data by accident. Unauthenticated callers are rate-limited by address, services not.
 */
export async function admitServices(scope: App, authenticate: AuthenticateService, strangers: RateLimit): Promise<void> {
  scope.decorateRequest('serviceId', null);
  scope.addHook('onRequest', async (request) => {
    const bearer = bearerOf(request.headers.authorization);
    request.serviceId = (bearer === undefined ? undefined : await authenticate(bearer))?.id ?? null;
  });
  await limitRequests(scope, 'internal', { ...strangers, isExempt: (request) => request.serviceId !== null });
  scope.addHook('onRequest', async (request) => {
    if (request.serviceId === null) throw new AppError('unauthenticated', 'a service token is needed');
  });
}
