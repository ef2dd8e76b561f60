import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { App } from '../../platform/http/app.ts';
import { identifyCaller } from '../../platform/http/authentication.ts';
import { limitRequests } from '../../platform/http/rate-limit.ts';
import type { RateLimit } from '../../platform/http/rate-limit.ts';
import { INVITATION_STATE } from './links/invitation-visits.ts';
import { PAGE_POLICY } from '../../platform/core/html-page.ts';
import type { IdentityService } from './service.ts';
import type { Exchange, Interactions, Outcome } from './sign-in/interactions.ts';
import { INVITATION_PATH, PASSWORD_PATH, SETUP_PATH } from '../teams/types.ts';
import { OIDC_PATH, UPSTREAM_CALLBACK_PATH } from './types.ts';

/** A sign-in takes about ten requests, and a whole office may share one address. */
const RATE_FACTOR = 10;
/** Many times the size of an address, a password and a CSRF token. */
const FORM_LIMIT_BYTES = 16 * 1024;
/** The provider adds the hash of its own scripts to `script-src`; 'report-sample' allows none by itself. */
const PROTOCOL_POLICY = "default-src 'none'; script-src 'report-sample'; base-uri 'none'; frame-ancestors 'none'";

export interface IdentityRoutesDeps {
  identity: IdentityService;
  rateLimit: RateLimit;
}

/**
 * The OpenID provider and its pages, at `/oidc`. Most callers are anonymous: they are rate-limited per network. A browser in which
 * somebody has signed in before has its own limit, so that strangers behind the same address do not lock it out.
 */
export async function identityRoutes(app: App, { identity, rateLimit }: IdentityRoutesDeps): Promise<void> {
  identifyCaller(app, async () => undefined);
  const nameOf = (request: FastifyRequest): string | undefined => identity.knownBrowser(request.headers.cookie);
  await limitRequests(app, 'sign-in', { ...rateLimit, perMinute: rateLimit.perMinute * RATE_FACTOR, nameOf });
  await app.register(async (scope) => pageRoutes(scope as App, identity));
  await app.register(async (scope) => protocolRoutes(scope as App, identity));
}

const uidParams = z.object({ uid: z.string().max(100) });
/** Callback of the upstream provider. An error counts as a missing code. */
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
    page((interactions, exchange) => interactions.redirectToUpstream(exchange)),
  );
  app.get(`${path}/upstream`, { schema: { ...schema, querystring: upstreamQuery } }, async (request, reply) =>
    answer(reply, await identity.interactions.returnFromUpstream(exchangeOf(request, reply), request.query)),
  );
  // The cookie of the sign-in is bound to its path; this path is fixed, because it is registered at the upstream provider.
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

/** Codes have 40 letters and digits. */
const codeParams = z.object({ code: z.string().max(100) });

/** The pages behind links sent to people. Codes are part of the path, and this server logs no paths. */
function linkRoutes(app: App, identity: IdentityService): void {
  type Visit = (links: IdentityService['links'], exchange: Exchange, code: string) => Promise<Outcome>;
  const page = (act: Visit) => async (request: FastifyRequest<{ Params: z.infer<typeof codeParams> }>, reply: FastifyReply) =>
    answer(reply, await act(identity.links, exchangeOf(request, reply), request.params.code));
  const schema = { hide: true, params: codeParams };
  const invitation = `${INVITATION_PATH}/:code`;
  app.get(`${INVITATION_PATH}/return`, { schema: { hide: true, querystring: upstreamQuery } }, async (request, reply) =>
    answer(reply, await identity.links.invitations.returnFromUpstream(exchangeOf(request, reply), request.query)),
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
    page(async ({ invitations }, exchange, code) => invitations.redirectToUpstream(exchange, code)),
  );
  const setup = `${SETUP_PATH}/:code`;
  app.get(
    setup,
    { schema },
    page(async ({ setup: visits }, exchange, code) => visits.show(exchange, code)),
  );
  app.post(
    setup,
    { schema },
    page(async ({ setup: visits }, exchange, code) => visits.create(exchange, code)),
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

/** The provider reads request bodies and writes answers itself. */
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

/** The provider builds addresses from these headers: always the public URL, whatever the request claims. */
function describeForProvider(headers: Record<string, string | string[] | undefined>, { protocol, host }: URL, address: string): void {
  headers['x-forwarded-proto'] = protocol.slice(0, -1);
  headers['x-forwarded-host'] = host;
  headers['x-forwarded-for'] = address;
}
