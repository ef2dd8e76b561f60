import type { App } from './app.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Where the request came from. Read while the connection is open: afterwards a socket no longer knows. */
    source: string;
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
}

/** Longest path kept; ours are far shorter. */
const MAX_TARGET_CHARS = 500;

/** Reports every request of a known caller that may change something, with its result. */
export function reportWrites(scope: App, report: (record: WriteRecord) => void): void {
  scope.decorateRequest('source', '');
  scope.addHook('onRequest', async (request) => {
    request.source = request.ip;
  });
  // Not onResponse: that one is never called when the caller has hung up meanwhile, and the thing is done all the same.
  scope.addHook('onSend', async (request, reply, payload) => {
    if (request.method === 'GET' || request.method === 'HEAD' || !request.principal) return payload;
    report({
      team_id: request.principal.teamId,
      actor_kind: request.principal.kind,
      actor_id: request.principal.id,
      source: request.source,
      action: `${request.method} ${patternOf(request.routeOptions.url)}`,
      target: request.url.split('?')[0]!.slice(0, MAX_TARGET_CHARS),
      result: reply.statusCode,
    });
    return payload;
  });
}

/** The route as people write it: without what its parameters must look like. */
function patternOf(url = ''): string {
  return url.replace(/\(.*\)$/, '');
}
