import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError, invalidField } from '../core/errors.ts';
import type { Claim, HeldKey, IdempotencyKeys, IdempotencyScope } from '../core/idempotency.ts';
import { newId } from '../core/ids.ts';
import type { App } from './app.ts';
import { principalOf } from './authentication.ts';
import { toProblem } from './error-handler.ts';

/**
 * `Idempotency-Key` (IETF draft 07) on every POST: the same key and body gives the first answer again, another
 * body 422, one still under way 409. Only where surely nothing was done is the answer not kept, and a repeat done anew.
 */

declare module 'fastify' {
  interface FastifyRequest {
    idempotency: { key: string; given: boolean; held: HeldKey | undefined } | null;
  }
  interface FastifyContextConfig {
    /**
     * The route itself recognises its earlier record by the key, so after a crash the request simply runs again.
     * Without it, an interrupted first request answers `outcome_unknown`: repeating could do the thing twice.
     */
    resumable?: boolean;
    /**
     * The answer holds a secret that is shown once and stored nowhere, so it is not replayed: the same request again is
     * a conflict that says so.
     */
    secretAnswer?: boolean;
  }
}

/** Longer answers are not kept for a repeat: long prints would fill the database. */
const MAX_KEPT_CHARS = 256 * 1024;

export function replayRepeatedPosts(scope: App, keys: IdempotencyKeys, now: () => number): void {
  scope.decorateRequest('idempotency', null);

  scope.addHook('preHandler', async (request, reply) => {
    if (request.method !== 'POST') return undefined;
    const given = readKey(request.headers['idempotency-key']);
    request.idempotency = { key: given ?? newId(now()), given: given !== undefined, held: undefined };
    if (given === undefined) return undefined;
    const claim = await keys.claim(scopeOf(request), payloadOf(request), request.routeOptions.config.resumable === true);
    if (claim.state === 'finished') return replay(reply, claim);
    request.idempotency.held = heldBy(claim);
    return undefined;
  });

  scope.addHook('onSend', async (request, reply, payload) => {
    const held = request.idempotency?.held;
    if (!request.idempotency || !held) return payload;
    request.idempotency.held = undefined;
    try {
      await remember(keys, held, { request, reply, payload });
    } catch (error) {
      // The caller must learn it all the same; the store remembers the answer for a repeat while this process runs.
      request.log.error({ err: error }, 'the answer could not be kept for its Idempotency-Key');
    }
    return payload;
  });
}

interface Exchange {
  request: FastifyRequest;
  reply: FastifyReply;
  payload: unknown;
}

async function remember(keys: IdempotencyKeys, held: HeldKey, { request, reply, payload }: Exchange): Promise<void> {
  if (typeof payload !== 'string' || mayBeDoneAnew(request, reply)) await keys.release(held);
  else if (holdsSecret(request, reply)) await keys.finish(held, 409, notKept(request, 'the secret in its answer is shown only once'));
  else if (payload.length > MAX_KEPT_CHARS) await keys.finish(held, 409, notKept(request, 'its answer was too large to be kept'));
  else if (reply.statusCode >= 400 || keys.hasRoomFor(held, Buffer.byteLength(payload))) await keys.finish(held, reply.statusCode, payload);
  else await keys.finish(held, 409, notKept(request, 'you or your team have too many answers kept, so its answer was not'));
}

/**
 * After 503 nothing was done. After any other failure it may have been, perhaps because the caller's own line broke: a
 * repeat by a client that hides broken lines would run a command twice.
 */
function mayBeDoneAnew(request: FastifyRequest, { statusCode }: FastifyReply): boolean {
  return statusCode === 503 || (statusCode >= 500 && request.routeOptions.config.resumable === true);
}

function holdsSecret(request: FastifyRequest, reply: FastifyReply): boolean {
  return request.routeOptions.config.secretAnswer === true && reply.statusCode < 400;
}

/** What a repeat is answered in place of an answer that was not kept. */
function notKept(request: FastifyRequest, why: string): string {
  const error = new AppError('conflict', `the first request with this Idempotency-Key succeeded; ${why}`);
  return JSON.stringify(toProblem(error, request.id));
}

/** The caller's key, or one made for this request: what a job receipt shows. */
export function idempotencyKeyOf(request: FastifyRequest): string {
  return request.idempotency?.key ?? request.id;
}

function readKey(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  const text = (Array.isArray(header) ? header.join(',') : header).trim();
  const key = /^"(.*)"$/.exec(text)?.[1] ?? text;
  if (!/^[\x21-\x7e]{1,255}$/.test(key)) throw invalidField('idempotency-key', 'must be 1 to 255 visible ASCII characters');
  return key;
}

function heldBy(claim: Exclude<Claim, { state: 'finished' }>): HeldKey {
  switch (claim.state) {
    case 'claimed':
      return claim.held;
    case 'other_payload':
      throw invalidField('idempotency-key', 'was used with another request body');
    case 'running':
      throw new AppError('in_progress', 'the first request with this Idempotency-Key is still under way');
    case 'interrupted':
      throw new AppError('outcome_unknown', 'the first request with this Idempotency-Key was interrupted; it may have taken effect');
  }
}

function replay(reply: FastifyReply, first: { status: number; response: string }): FastifyReply {
  const type = first.status >= 400 ? 'application/problem+json; charset=utf-8' : 'application/json; charset=utf-8';
  return reply.code(first.status).header('idempotency-replayed', 'true').type(type).serializer(String).send(first.response);
}

function scopeOf(request: FastifyRequest): IdempotencyScope {
  const { teamId, id } = principalOf(request);
  return { teamId, scope: `${request.method} ${pathOf(request)}`, key: request.idempotency!.key, caller: id };
}

/** As the route knows it: an id in capitals is the same path. */
function pathOf({ routeOptions, params }: FastifyRequest): string {
  return (routeOptions.url ?? '').replaceAll(/:(\w+)/g, (_, name: string) => (params as Record<string, string>)[name] ?? '');
}

/** Of the validated body, so that the order of members and white space do not matter to a client that rebuilds it. */
function payloadOf(request: FastifyRequest): string {
  return JSON.stringify(request.body ?? null);
}
