import { createHash } from 'node:crypto';
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Holder } from '../../../runtime/fair-shares.ts';
import { newId } from '../core/ids.ts';
import { networkOf } from '../core/network-of.ts';
import { runInSlot } from '../core/admission-slot.ts';
import type { AdmissionSlot } from '../core/admission-slot.ts';
import { OVERLOADED, type Admission } from './admission.ts';
import type { App, AppOptions } from './app.ts';
import { clientAddress } from './client-address.ts';
import { describeProblem, UNAVAILABLE_S } from './error-handler.ts';

/** Monitoring must work while the process is overloaded. */
const ALWAYS = new Set(['/healthz', '/readyz', '/internal/metrics', '/internal/status']);
/** Placeholder for the request id in the refusal, which is rendered once. */
const ID_PLACEHOLDER = '00000000-0000-0000-0000-000000000000';
/** Route label in the metrics: a refusal must not cost a lookup of the route. */
const REFUSED_ROUTE = 'overload';

export interface AdmissionDeps {
  admission: Admission;
  options: Pick<AppOptions, 'describeError' | 'isTrustedProxy' | 'log' | 'now'>;
  /** Every refusal, for the metrics. */
  observe?: (labels: { method: string; route: string; status: number }, seconds: number) => void;
}

/**
 * Puts the queue in front of the application. A refusal inside the application would cost several times as much. The body of a
 * refused request is not read.
 */
export function admitRequests(app: App, { admission, options, observe }: AdmissionDeps): void {
  const refuse = refusalOf(options);
  const isTrusted = options.isTrustedProxy ?? (() => false);
  const slots = new WeakMap<IncomingMessage, AdmissionSlot>();
  const serve = (request: IncomingMessage, response: ServerResponse, release: () => void): void => {
    const slot = { release, isOver: false };
    // Not `finish`: a disconnected client also ends the request.
    response.once('close', () => {
      slot.isOver = true;
      release();
    });
    slots.set(request, slot);
    app.routing(request, response);
  };
  const begin = (request: IncomingMessage, response: ServerResponse): void => {
    const release = admission.begin(() => !request.complete || response.headersSent);
    // The client has disconnected while it waited.
    if (response.destroyed) {
      release();
      return;
    }
    serve(request, response, release);
  };
  const enterSlot = ({ raw }: { raw: IncomingMessage }, _reply: unknown, done: () => void): void => {
    const slot = slots.get(raw);
    if (slot) runInSlot(slot, done);
    else done();
  };
  // Three times: code after the reading of a body runs in the connection's context, and authentication reads the database before that.
  app.addHook('onRequest', enterSlot);
  app.addHook('preValidation', enterSlot);
  app.addHook('preHandler', enterSlot);
  const refuseRequest = (request: IncomingMessage, response: ServerResponse, startedAt: number): void => {
    refuse(response);
    observe?.({ method: request.method ?? '', route: REFUSED_ROUTE, status: 503 }, (performance.now() - startedAt) / 1000);
    options.log.info({ reason: 'overload', source: request.socket.remoteAddress ?? '' }, 'request refused: too many at once');
  };
  admission.watch(app.server);
  // Other listeners (client-errors.ts) have seen the request before.
  const application: { readonly routing: (request: IncomingMessage, response: ServerResponse) => void } = app;
  app.server.off('request', application.routing);
  app.server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    if (ALWAYS.has(pathOf(request))) {
      serve(request, response, () => undefined);
      return;
    }
    const startedAt = performance.now();
    const decision = admission.enter(holderOf(request, clientAddress(request, isTrusted)));
    if (decision === 'admitted') begin(request, response);
    else if (decision === 'refused') refuseRequest(request, response, startedAt);
    else void decision.then((isIn) => (isIn ? begin(request, response) : refuseRequest(request, response, startedAt)));
  });
}

/** Answers in the application's error format, rendered once. */
function refusalOf({ describeError = describeProblem, now }: AdmissionDeps['options']): (response: ServerResponse) => void {
  const { status, type, body } = describeError(OVERLOADED, ID_PLACEHOLDER);
  const headers: OutgoingHttpHeaders = {
    'content-type': type,
    'retry-after': String(UNAVAILABLE_S),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  };
  return (response) => {
    const id = newId(now());
    const text = body.replace(ID_PLACEHOLDER, id);
    response.writeHead(status, { ...headers, 'x-request-id': id, 'content-length': Buffer.byteLength(text) });
    response.end(text);
  };
}

function pathOf({ url = '' }: IncomingMessage): string {
  const query = url.indexOf('?');
  return query === -1 ? url : url.slice(0, query);
}

/**
 * The credential as sent, before any lookup, within its network: invented credentials compete only with others of the same network.
 * A digest, so that no secret stays in memory as a map key.
 */
function holderOf({ headers: { authorization } }: IncomingMessage, address: string): Holder {
  const member = authorization === undefined ? '' : createHash('sha1').update(authorization).digest('base64');
  return { party: networkOf(address), member };
}
