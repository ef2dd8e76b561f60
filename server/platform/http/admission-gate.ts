import { createHash } from 'node:crypto';
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Holder } from '../../../runtime/fair-shares.ts';
import { newId } from '../core/ids.ts';
import { networkOf } from '../core/network-of.ts';
import { workInPlace } from '../core/request-place.ts';
import { OVERLOADED, type Admission, type Leave } from './admission.ts';
import type { App, AppOptions } from './app.ts';
import { clientAddress } from './client-address.ts';
import { describeProblem, UNAVAILABLE_S } from './error-handler.ts';

/** Whoever watches a busy process must still be answered. */
const ALWAYS = new Set(['/healthz', '/readyz', '/internal/metrics', '/internal/status']);
/** Stands in the answer that is made once, where each refusal has an id of its own. */
const ID_PLACE = '00000000-0000-0000-0000-000000000000';
/** Metrics name it in the place of the route, which is not known: a refusal must not cost a look at the routes. */
const REFUSED_ROUTE = 'overload';

export interface AdmissionDeps {
  admission: Admission;
  options: Pick<AppOptions, 'describeError' | 'isTrustedProxy' | 'log' | 'now'>;
  /** Every refusal, for the metrics. */
  observe?: (labels: { method: string; route: string; status: number }, seconds: number) => void;
}

/**
 * Lets every request of this application pass the queue, in front of the application itself: a refusal that first became one of its
 * requests would cost several times as much, and the refused wait for each other. The body of a refused request is not read.
 */
export function admitRequests(app: App, { admission, options, observe }: AdmissionDeps): void {
  const refuse = refusalOf(options);
  const isTrusted = options.isTrustedProxy ?? (() => false);
  const places = new WeakMap<IncomingMessage, Leave>();
  const begin = (request: IncomingMessage, response: ServerResponse): void => {
    const leave = admission.begin(() => !request.complete || response.headersSent);
    // A client that has gone away while it waited needs no answer.
    if (response.destroyed) {
      leave();
      return;
    }
    // Not `finish`: a client that goes away ends the request as well.
    response.once('close', leave);
    places.set(request, leave);
    app.routing(request, response);
  };
  // Not around the application as a whole: what follows the reading of a body runs in the context of the connection.
  app.addHook('preHandler', (request, _reply, done) => {
    const leave = places.get(request.raw);
    if (leave) workInPlace(leave, done);
    else done();
  });
  const turnAway = (request: IncomingMessage, response: ServerResponse, startedAt: number): void => {
    refuse(response);
    observe?.({ method: request.method ?? '', route: REFUSED_ROUTE, status: 503 }, (performance.now() - startedAt) / 1000);
    options.log.info({ reason: 'overload', source: request.socket.remoteAddress ?? '' }, 'request refused: too many at once');
  };
  admission.watch(app.server);
  // Whoever listens beside the application (client-errors.ts) has seen the request before.
  // oxlint-disable-next-line typescript/unbound-method -- the very function that the application gave to its server
  app.server.off('request', app.routing);
  app.server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    if (ALWAYS.has(pathOf(request))) {
      app.routing(request, response);
      return;
    }
    const startedAt = performance.now();
    const place = admission.enter(holderOf(request, clientAddress(request, isTrusted)));
    if (place === 'admitted') begin(request, response);
    else if (place === 'refused') turnAway(request, response, startedAt);
    else void place.then((isIn) => (isIn ? begin(request, response) : turnAway(request, response, startedAt)));
  });
}

/** Answers in the application's form for errors, which is worked out once. */
function refusalOf({ describeError = describeProblem, now }: AdmissionDeps['options']): (response: ServerResponse) => void {
  const { status, type, body } = describeError(OVERLOADED, ID_PLACE);
  const headers: OutgoingHttpHeaders = {
    'content-type': type,
    'retry-after': String(UNAVAILABLE_S),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  };
  return (response) => {
    const id = newId(now());
    const text = body.replace(ID_PLACE, id);
    response.writeHead(status, { ...headers, 'x-request-id': id, 'content-length': Buffer.byteLength(text) });
    response.end(text);
  };
}

function pathOf({ url = '' }: IncomingMessage): string {
  const query = url.indexOf('?');
  return query === -1 ? url : url.slice(0, query);
}

/**
 * The credential as it was sent, not looked up yet, in the network that it comes from: somebody who makes credentials up gets turns of
 * their own among those of this network, and none of other networks. A digest, so that no secret stays in memory as a key.
 */
function holderOf({ headers: { authorization } }: IncomingMessage, address: string): Holder {
  const member = authorization === undefined ? '' : createHash('sha1').update(authorization).digest('base64');
  return { party: networkOf(address), member };
}
