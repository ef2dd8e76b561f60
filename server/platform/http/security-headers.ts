import cors from '@fastify/cors';
import helmet from '@fastify/helmet';
import type { App } from './app.ts';

export interface EdgeOptions {
  /** Origins of browser applications that may call the API. */
  corsOrigins: readonly string[];
}

/** Sets the security headers of responses. The pages under /docs have their own policy. */
export async function protectEdge(app: App, { corsOrigins }: EdgeOptions): Promise<void> {
  await app.register(helmet, {
    contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
    crossOriginResourcePolicy: { policy: corsOrigins.length > 0 ? 'cross-origin' : 'same-origin' },
    referrerPolicy: { policy: 'no-referrer' },
  });
  app.addHook('onSend', async (_request, reply, payload) => {
    // Responses contain a team's data, so intermediaries must not store them. Not by path, because a path has several spellings.
    if (!reply.hasHeader('cache-control')) reply.header('cache-control', 'no-store');
    return payload;
  });
  if (corsOrigins.length === 0) return;
  await app.register(cors, {
    origin: [...corsOrigins],
    methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
    allowedHeaders: ['authorization', 'content-type', 'idempotency-key', 'if-none-match', 'last-event-id'],
    exposedHeaders: [
      'etag',
      'x-event-id',
      'link',
      'retry-after',
      'ratelimit-limit',
      'ratelimit-remaining',
      'ratelimit-reset',
      'x-request-id',
      'idempotency-replayed',
    ],
    maxAge: 600,
  });
}
