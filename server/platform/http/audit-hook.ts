import type { FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { isUuid } from '../core/ids.ts';
import type { Principal } from '../core/principal.ts';
import type { App } from './app.ts';
import { principalOf } from './authentication.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Source address of the request, read while the connection is open: a closed socket no longer has it. */
    source: string;
    /** What the request created or changed, or which of its fields were refused, for the audit log. */
    auditDetail: string | null;
  }

  interface FastifyContextConfig {
    /** It changes nothing although its method could: the audit log does not have it. */
    readsOnly?: true;
  }
}

export interface WriteRecord {
  team_id: string;
  actor_kind: string;
  actor_id: string;
  source: string;
  action: string;
  target: string;
  result: number;
  detail: string | null;
  router_id: string | null;
}

/** Longest path kept; ours are far shorter. */
const MAX_TARGET_CHARS = 500;

/** How often a caller over the rate limit is recorded, milliseconds. */
const OVER_LIMIT_EVERY_MS = 60_000;
/** Callers tracked for that. */
const OVER_LIMIT_CALLERS = 10_000;

/**
 * Reports every request of an authenticated caller that may change something, with its result. Of requests beyond the rate
 * limit, reports one a minute for each caller.
 * @param monotonic monotonic milliseconds
 */
export function reportWrites(scope: App, report: (record: WriteRecord) => void, monotonic: () => number): void {
  const overLimit = new LRUCache<string, number>({ max: OVER_LIMIT_CALLERS });
  const isRepeated = ({ kind, id }: Principal, status: number): boolean => {
    if (status !== 429) return false;
    const [caller, now] = [`${kind} ${id}`, monotonic()];
    if (now - (overLimit.get(caller) ?? -Infinity) < OVER_LIMIT_EVERY_MS) return true;
    overLimit.set(caller, now);
    return false;
  };
  scope.decorateRequest('source', '');
  scope.decorateRequest('auditDetail', null);
  scope.addHook('onRequest', async (request) => {
    request.source = request.ip;
  });
  // Not onResponse: it is not called when the caller has disconnected, although the request took effect.
  scope.addHook('onSend', async (request, reply, payload) => {
    if (request.method === 'GET' || request.method === 'HEAD' || !request.principal) return payload;
    if (request.routeOptions.config.readsOnly) return payload;
    if (isRepeated(request.principal, reply.statusCode)) return payload;
    report(recordOf(request, reply.statusCode));
    return payload;
  });
}

/** The audit record of a request. */
export function recordOf(request: FastifyRequest, result: number): WriteRecord {
  const { teamId, kind, id } = principalOf(request);
  return {
    team_id: teamId,
    actor_kind: kind,
    actor_id: id,
    source: request.source,
    action: `${request.method} ${patternOf(request.routeOptions.url)}`,
    target: request.url.split('?')[0]!.slice(0, MAX_TARGET_CHARS),
    result,
    detail: request.auditDetail,
    router_id: routerOf(request.params),
  };
}

/** The router that the path names: router-names.ts has replaced its identity by its id, if there is such a router. */
function routerOf(params: unknown): string | null {
  const { router_id: id } = params as { router_id?: unknown };
  return typeof id === 'string' && isUuid(id.toLowerCase()) ? id.toLowerCase() : null;
}

/** The route without the patterns of its parameters. */
function patternOf(url = ''): string {
  return url.replace(/\(.*\)$/, '');
}
