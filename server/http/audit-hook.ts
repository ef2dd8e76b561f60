import type { FastifyRequest } from 'fastify';
import type { App } from './app.ts';
import { principalOf } from './authentication.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Where the request came from. Read while the connection is open: afterwards a socket no longer knows. */
    source: string;
    /** What the request made, for the audit log. */
    auditDetail: string | null;
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
}

/** Longest path kept; ours are far shorter. */
const MAX_TARGET_CHARS = 500;

/** Reports every request of a known caller that may change something, with its result. */
export function reportWrites(scope: App, report: (record: WriteRecord) => void): void {
  scope.decorateRequest('source', '');
  scope.decorateRequest('auditDetail', null);
  scope.addHook('onRequest', async (request) => {
    request.source = request.ip;
  });
  // Not onResponse: that one is never called when the caller has hung up meanwhile, and the thing is done all the same.
  scope.addHook('onSend', async (request, reply, payload) => {
    if (request.method === 'GET' || request.method === 'HEAD' || !request.principal) return payload;
    report(recordOf(request, reply.statusCode));
    return payload;
  });
}

/** What the audit log is told of a request of a known caller. */
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
  };
}

/** The route as people write it: without what its parameters must look like. */
function patternOf(url = ''): string {
  return url.replace(/\(.*\)$/, '');
}
