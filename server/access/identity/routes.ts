import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { App } from '../../platform/http/app.ts';
import { identifyCaller } from '../../platform/http/authentication.ts';
import { limitRequests } from '../../platform/http/rate-limit.ts';
import type { RateLimit } from '../../platform/http/rate-limit.ts';
import { INVITATION_STATE } from './links/invitation-visits.ts';
import { PAGE_POLICY } from './provider/pages.ts';
import type { IdentityService } from './service.ts';
import type { Exchange, Interactions, Outcome } from './sign-in/interactions.ts';
import { INVITATION_PATH, PASSWORD_PATH } from '../teams/types.ts';
import { OIDC_PATH, UPSTREAM_CALLBACK_PATH } from './types.ts';

/** Signing in takes about ten requests, and an office of people stands behind one address. */
const RATE_FACTOR = 10;
/** Address, password and proof fit many times. */
const FORM_LIMIT_BYTES = 16 * 1024;
/** A script that the provider puts into one of its pages is added to `script-src` by its hash; the word there allows none. */
const PROTOCOL_POLICY = "default-src 'none'; script-src 'report-sample'; base-uri 'none'; frame-ancestors 'none'";

export interface IdentityRoutesDeps {
  identity: IdentityService;
  rateLimit: RateLimit;
}

/**
 * The OpenID provider and its pages, at `/oidc`. Strangers are the normal case here; they are counted by network, and
 * browsers in which somebody has signed in before by themselves: strangers behind the same address do not keep them out.
 */
export async function identityRoutes(app: App, { identity, rateLimit }: IdentityRoutesDeps): Promise<void> {
  identifyCaller(app, async () => undefined);
  const nameOf = (request: FastifyRequest): string | undefined => identity.knownBrowser(request.headers.cookie);
  await limitRequests(app, { ...rateLimit, perMinute: rateLimit.perMinute * RATE_FACTOR, nameOf });
  await app.register(async (scope) => pageRoutes(scope as App, identity));
  await app.register(async (scope) => protocolRoutes(scope as App, identity));
}

const uidParams = z.object({ uid: z.string().max(100) });
/** What comes back from outside; errors of the provider are as good as no code. */
const upstreamQuery = z.object({ code: z.string().max(4096).optional(), state: z.string().max(300).optional() });

function pageRoutes(app: App, identity: IdentityService): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string', bodyLimit: FORM_LIMIT_BYTES },
    (_request, body, done) => {
      done(null, Object.fromEntries(new URLSearchParams(body as string)));
    },
  );
  linkRoutes(app, identity);
  const page =
    (act: (interactions: Interactions, exchange: Exchange) => Promise<Outcome>) => async (request: FastifyRequest, reply: FastifyReply) =>
      answer(reply, await act(identity.interactions, exchangeOf(request, reply)));
  const schema = { hide: true, params: uidParams };
  const path = `${OIDC_PATH}/interaction/:uid`;
  app.get(
    path,
    { schema },
    page((interactions, exchange) => interactions.show(exchange)),
  );
  app.post(
    `${path}/login`,
    { schema },
    page((interactions, exchange) => interactions.signIn(exchange)),
  );
  app.post(
    `${path}/confirm`,
    { schema },
    page((interactions, exchange) => interactions.confirm(exchange)),
  );
  app.post(
    `${path}/upstream`,
    { schema },
    page((interactions, exchange) => interactions.leave(exchange)),
  );
  app.get(`${path}/upstream`, { schema: { ...schema, querystring: upstreamQuery } }, async (request, reply) =>
    answer(reply, await identity.interactions.return(exchangeOf(request, reply), request.query)),
  );
  // The cookie of the sign-in is bound to its path; this one is fixed, as the outside provider wants it.
  app.get(UPSTREAM_CALLBACK_PATH, { schema: { hide: true, querystring: upstreamQuery } }, async (request, reply) => {
    const { code, state = '' } = request.query;
    const query = new URLSearchParams({ state, ...(code === undefined ? {} : { code }) });
    const uid = encodeURIComponent(state.split('.')[0]!);
    if (uid === INVITATION_STATE) return answer(reply, { location: `${identity.baseUrl}${INVITATION_PATH}/return?${query.toString()}` });
    return answer(reply, { location: `${identity.mountPath}/interaction/${uid}/upstream?${query.toString()}` });
  });
  app.post(
    `${path}/abort`,
    { schema },
    page((interactions, exchange) => interactions.abort(exchange)),
  );
}

/** Ours have 40 letters and digits. */
const codeParams = z.object({ code: z.string().max(100) });

/** What the links lead to that people are sent. The codes are in paths, which this program writes into no log. */
function linkRoutes(app: App, identity: IdentityService): void {
  type Visit = (links: IdentityService['links'], exchange: Exchange, code: string) => Promise<Outcome>;
  const page = (act: Visit) => async (request: FastifyRequest<{ Params: z.infer<typeof codeParams> }>, reply: FastifyReply) =>
    answer(reply, await act(identity.links, exchangeOf(request, reply), request.params.code));
  const schema = { hide: true, params: codeParams };
  const invitation = `${INVITATION_PATH}/:code`;
  app.get(`${INVITATION_PATH}/return`, { schema: { hide: true, querystring: upstreamQuery } }, async (request, reply) =>
    answer(reply, await identity.links.invitations.return(exchangeOf(request, reply), request.query)),
  );
  app.get(
    invitation,
    { schema },
    page(async ({ invitations }, exchange, code) => invitations.show(exchange, code)),
  );
  app.post(
    `${invitation}/accept`,
    { schema },
    page(async ({ invitations }, exchange, code) => invitations.accept(exchange, code)),
  );
  app.post(
    `${invitation}/decline`,
    { schema },
    page(async ({ invitations }, exchange, code) => invitations.decline(exchange, code)),
  );
  app.post(
    `${invitation}/upstream`,
    { schema },
    page(async ({ invitations }, exchange, code) => invitations.leave(exchange, code)),
  );
  const password = `${PASSWORD_PATH}/:code`;
  app.get(
    password,
    { schema },
    page(async ({ passwords }, exchange, code) => passwords.show(exchange, code)),
  );
  app.post(
    password,
    { schema },
    page(async ({ passwords }, exchange, code) => passwords.set(exchange, code)),
  );
}

function exchangeOf(request: Pick<FastifyRequest, 'body' | 'raw' | 'ip'>, reply: FastifyReply): Exchange {
  const form = (request.body ?? {}) as Exchange['form'];
  return { request: request.raw, response: reply.raw, source: request.ip, form };
}

function answer(reply: FastifyReply, outcome: Outcome): FastifyReply {
  reply.header('cache-control', 'no-store');
  if ('location' in outcome) return reply.redirect(outcome.location, 303);
  if (outcome.retryAfter !== undefined) reply.header('retry-after', outcome.retryAfter);
  return reply
    .code(outcome.status)
    .header('content-security-policy', PAGE_POLICY)
    .type('text/html; charset=utf-8')
    .serializer(String)
    .send(outcome.html);
}

/** The provider reads bodies and writes answers itself. */
function protocolRoutes(app: App, identity: IdentityService): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _body, done) => done(null));
  app.all(`${OIDC_PATH}/*`, { schema: { hide: true } }, async (request, reply) => {
    const { raw } = request;
    const handle = identity.handler;
    describeForProvider(raw.headers, new URL(identity.baseUrl), request.ip);
    const url = (raw.url ?? '').slice(OIDC_PATH.length) || '/';
    Object.assign(raw, { originalUrl: `${identity.mountPath}${url}`, url });
    reply.raw.setHeader('content-security-policy', PROTOCOL_POLICY);
    reply.raw.setHeader('x-request-id', request.id);
    reply.hijack();
    await handle(raw, reply.raw);
  });
}

/** What the provider builds addresses from: the public URL, whatever the request says of itself. */
function describeForProvider(headers: Record<string, string | string[] | undefined>, { protocol, host }: URL, address: string): void {
  headers['x-forwarded-proto'] = protocol.slice(0, -1);
  headers['x-forwarded-host'] = host;
  headers['x-forwarded-for'] = address;
}
