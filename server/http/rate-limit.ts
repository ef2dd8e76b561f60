import rateLimit from '@fastify/rate-limit';
import type { FastifyRateLimitStore } from '@fastify/rate-limit';
import type { FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { AppError } from '../core/errors.ts';
import type { App } from './app.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Known callers may use the route so many times as often; it is counted apart from the others then. */
    rateFactor?: number;
  }
}

/** Keys remembered at once: one per API key and per address without a credential. */
const REMEMBERED_KEYS = 100_000;
const WINDOW_MS = 60_000;
/** One subscriber owns at least so much of the IPv6 space. */
const IPV6_PREFIX = 64;

/**
 * INTERFACE.md section 7: 60 requests a minute for each key, counted exactly; the next is 429 with Retry-After.
 * Must be registered after the caller is identified and before strangers are refused, so that wrong credentials
 * count against their address and right ones against their key.
 * @param isExempt callers that are not counted
 */
export async function limitRequests(
  scope: App,
  perMinute: number,
  isExempt?: (request: FastifyRequest) => boolean,
): Promise<void> {
  await scope.register(rateLimit, { global: false, store: ExactCounts, enableDraftSpec: true });
  // A hook of the scope rather than of each route: the plugin's own route hooks would run after the refusal of strangers.
  const count = scope.rateLimit({
    max: (request) => perMinute * rateFactorOf(request),
    timeWindow: WINDOW_MS,
    ...(isExempt ? { allowList: isExempt } : {}),
    keyGenerator: (request) =>
      request.principal ? `key:${request.principal.id}${rateFactorOf(request) === 1 ? '' : `:${request.routeOptions.url}`}` : `address:${rateLimit.normalizeIP(request.ip, IPV6_PREFIX)}`,
    errorResponseBuilder: (_request, context) =>
      new AppError('rate_limited', `more than ${context.max} requests in a minute; try again in ${context.after}`),
  });
  scope.addHook('onRequest', count);
}

function rateFactorOf(request: FastifyRequest): number {
  return request.principal ? (request.routeOptions.config.rateFactor ?? 1) : 1;
}

/**
 * Fixed windows in memory. The plugin's own store hands out the one record it goes on counting in, and the plugin
 * reads it a microtask later: of 61 requests in the same tick it refuses all instead of one.
 */
class ExactCounts implements FastifyRateLimitStore {
  readonly #windows = new LRUCache<string, { count: number; endsAt: number }>({ max: REMEMBERED_KEYS });

  incr(key: string, callback: (error: Error | null, result?: { current: number; ttl: number }) => void): void {
    const now = Date.now();
    let window = this.#windows.get(key);
    if (!window || window.endsAt <= now) {
      window = { count: 0, endsAt: now + WINDOW_MS };
      this.#windows.set(key, window);
    }
    window.count += 1;
    callback(null, { current: window.count, ttl: window.endsAt - now });
  }

  child(): FastifyRateLimitStore {
    return new ExactCounts();
  }
}
