import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { Holder } from '../../../runtime/fair-shares.ts';
import { networkOf } from '../core/network-of.ts';
import type { Admission } from './admission.ts';
import type { App } from './app-type.ts';

/** Whoever watches a busy process must still be answered. */
const ALWAYS = new Set(['/healthz', '/readyz', '/internal/metrics', '/internal/status']);

/** Lets every request of this application pass the queue, before its caller is looked up in the database. */
export function admitRequests(app: App, admission: Admission): void {
  app.addHook('onRequest', (request, reply, done) => {
    if (ALWAYS.has(pathOf(request))) {
      done();
      return;
    }
    const begin = (): void => {
      const leave = admission.begin();
      // Not onResponse: a client that goes away ends the request as well.
      reply.raw.once('close', leave);
      if (reply.raw.destroyed) leave();
      done();
    };
    try {
      const wait = admission.enter(callerOf(request));
      if (wait) wait.then(begin, done);
      else begin();
    } catch (error) {
      done(error as Error);
    }
  });
}

function pathOf({ url }: FastifyRequest): string {
  const query = url.indexOf('?');
  return query === -1 ? url : url.slice(0, query);
}

/**
 * The credential as it was sent, not looked up yet, in the network that it comes from: somebody who makes credentials up gets turns of
 * their own among those of this network, and none of other networks. A digest, so that no secret stays in memory as a key.
 */
function callerOf({ headers, ip }: FastifyRequest): Holder {
  const { authorization } = headers;
  const member = authorization === undefined ? '' : createHash('sha1').update(authorization).digest('base64');
  return { party: networkOf(ip), member };
}
