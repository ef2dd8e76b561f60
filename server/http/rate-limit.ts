import rateLimit from '@fastify/rate-limit';
import { AppError } from '../core/errors.ts';
import type { App } from './app.ts';

/** Keys remembered at once: one per API key and per address without a credential. */
const REMEMBERED_KEYS = 100_000;

/**
 * INTERFACE.md section 7: 60 requests a minute for each key, counted exactly; the next is 429 with Retry-After.
 * Must be registered after the credential is identified and before it is demanded, so that wrong credentials
 * count against their address and right ones against their key.
 */
export async function limitRequests(scope: App, perMinute: number): Promise<void> {
  await scope.register(rateLimit, {
    max: perMinute,
    timeWindow: 60_000,
    hook: 'onRequest',
    cache: REMEMBERED_KEYS,
    enableDraftSpec: true,
    keyGenerator: (request) => (request.principal ? `key:${request.principal.id}` : `address:${request.ip}`),
    errorResponseBuilder: (_request, context) =>
      new AppError('rate_limited', `more than ${context.max} requests in a minute; try again in ${context.after}`),
  });
}
