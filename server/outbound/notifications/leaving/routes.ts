import type { FastifyError, FastifyReply } from 'fastify';
import { z } from 'zod';
import { AppError, invalidField } from '../../../platform/core/errors.ts';
import { PAGE_POLICY } from '../../../platform/core/html-page.ts';
import type { App } from '../../../platform/http/app.ts';
import { identifyCaller } from '../../../platform/http/authentication.ts';
import { limitRequests } from '../../../platform/http/rate-limit.ts';
import type { RateLimit } from '../../../platform/http/rate-limit.ts';
import { CONFIRM_PATH } from '../contacts/service.ts';
import { OPTOUT_SCOPES } from '../contacts/types.ts';
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
  app.setErrorHandler((error: FastifyError) => {
    throw ownError(error);
  });
  app.get(`${UNSUBSCRIBE_PATH}/:token`, { schema }, async (request, reply) =>
    answer(reply, await visits.showUnsubscribe(request.params.token)),
  );
  app.post(`${UNSUBSCRIBE_PATH}/:token`, { schema }, async (request, reply) =>
    answer(reply, await visits.unsubscribe(request.params.token, readScope(request.body))),
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

/** The limits of a form are not those of the interface. */
function ownError(error: FastifyError): Error {
  if (error.statusCode === 413)
    return new AppError('too_large', `the form is larger than ${FORM_LIMIT_BYTES / 1024} KiB`, { cause: error });
  if (error.statusCode !== 415) return error;
  const types = 'application/x-www-form-urlencoded or multipart/form-data';
  return new AppError('unsupported_media_type', `the content type must be ${types}`, { cause: error });
}

/** What a button of the page says; undefined for one-click unsubscribing. @throws AppError `invalid` */
function readScope(body: unknown): (typeof OPTOUT_SCOPES)[number] | undefined {
  const { scope } = (body ?? {}) as { scope?: string };
  if (scope === undefined) return undefined;
  const known = OPTOUT_SCOPES.find((one) => one === scope);
  if (!known) throw invalidField('scope', `must be ${OPTOUT_SCOPES.join(', ')}`);
  return known;
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
