import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { PAGE_POLICY } from '../../../platform/core/html-page.ts';
import type { App } from '../../../platform/http/app.ts';
import { identifyCaller } from '../../../platform/http/authentication.ts';
import { limitRequests } from '../../../platform/http/rate-limit.ts';
import type { RateLimit } from '../../../platform/http/rate-limit.ts';
import { CONFIRM_PATH } from '../contacts/service.ts';
import type { AcknowledgeVisits } from './acknowledging.ts';
import { ACKNOWLEDGE_PATH, UNSUBSCRIBE_PATH } from './links.ts';
import type { Page } from './pages.ts';
import type { MessageVisits } from './service.ts';

/** A form of ours has one short field; a mail program sends `List-Unsubscribe=One-Click`. */
const FORM_LIMIT_BYTES = 4096;
/** A signature, and the ids of a person, a group and up to 20 topics. */
const tokenParams = z.object({ token: z.string().max(2000) });

export interface MessageLinkDeps {
  messageVisits: MessageVisits;
  acknowledgeVisits: AcknowledgeVisits;
  rateLimit: RateLimit;
}

/**
 * Pages behind the links of messages, for readers who are not signed in. The token is the secret, so forms need no other proof: who can
 * forge one holds the token already.
 */
export async function messageLinkRoutes(app: App, { messageVisits: visits, acknowledgeVisits, rateLimit }: MessageLinkDeps): Promise<void> {
  identifyCaller(app, async () => undefined);
  await limitRequests(app, 'message links', rateLimit);
  app.removeAllContentTypeParsers();
  const limit = { parseAs: 'string', bodyLimit: FORM_LIMIT_BYTES } as const;
  app.addContentTypeParser<string>('application/x-www-form-urlencoded', limit, (_request, body, done) => {
    done(null, Object.fromEntries(new URLSearchParams(body)));
  });
  // RFC 8058 allows it, too; what it says is only that it is one click.
  app.addContentTypeParser<string>('multipart/form-data', limit, (_request, _body, done) => done(null, {}));
  const schema = { hide: true, params: tokenParams };
  const scopeOf = (body: unknown): string | undefined => (body as { scope?: string } | null)?.scope;
  app.get(`${UNSUBSCRIBE_PATH}/:token`, { schema }, async (request, reply) =>
    answer(reply, await visits.showUnsubscribe(request.params.token)),
  );
  app.post(`${UNSUBSCRIBE_PATH}/:token`, { schema }, async (request, reply) =>
    answer(reply, await visits.unsubscribe(request.params.token, scopeOf(request.body))),
  );
  app.get(`${ACKNOWLEDGE_PATH}/:token`, { schema }, async (request, reply) =>
    answer(reply, await acknowledgeVisits.show(request.params.token)),
  );
  app.post(`${ACKNOWLEDGE_PATH}/:token`, { schema }, async (request, reply) =>
    answer(reply, await acknowledgeVisits.acknowledge(request.params.token, request.ip)),
  );
  app.get(`${CONFIRM_PATH}/:token`, { schema }, async (request, reply) => answer(reply, await visits.showConfirm(request.params.token)));
  app.post(`${CONFIRM_PATH}/:token`, { schema }, async (request, reply) => answer(reply, await visits.confirm(request.params.token)));
}

function answer(reply: FastifyReply, { status, html }: Page): FastifyReply {
  return reply
    .code(status)
    .header('cache-control', 'no-store')
    .header('referrer-policy', 'no-referrer')
    .header('content-security-policy', PAGE_POLICY)
    .type('text/html; charset=utf-8')
    .serializer(String)
    .send(html);
}
