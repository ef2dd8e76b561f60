import { AppError } from '../core/errors.ts';
import type { App } from './app.ts';
import { bearerOf } from './authentication.ts';
import { limitRequests } from './rate-limit.ts';
import type { RateLimit } from './rate-limit.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Id of the service token on internal routes; null for a stranger. */
    serviceId: string | null;
  }
}

/** Tells whose service token this is; undefined for every other kind of credential. */
export type AuthenticateService = (bearer: string) => Promise<{ id: string } | undefined>;

/**
 * Makes `scope` internal (docs/interface.md, service token): only service tokens are let in. They stand for no team, so there is no
 * principal and nothing of a team can be asked for by accident. Strangers are limited by address, services are not.
 */
export async function admitServices(scope: App, authenticate: AuthenticateService, strangers: RateLimit): Promise<void> {
  scope.decorateRequest('serviceId', null);
  scope.addHook('onRequest', async (request) => {
    const bearer = bearerOf(request.headers.authorization);
    request.serviceId = (bearer === undefined ? undefined : await authenticate(bearer))?.id ?? null;
  });
  await limitRequests(scope, { ...strangers, isExempt: (request) => request.serviceId !== null });
  scope.addHook('onRequest', async (request) => {
    if (request.serviceId === null) throw new AppError('unauthenticated', 'a service token is needed');
  });
}
