import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError, invalidField } from '../core/errors.ts';
import type { Claim, HeldKey, IdempotencyKeys, IdempotencyScope } from '../core/idempotency.ts';
import { newId } from '../core/ids.ts';
import type { App } from './app.ts';
import { principalOf } from './authentication.ts';
import { toProblem } from './error-handler.ts';

/**
 * `Idempotency-Key` (IETF draft 07) on every POST and PATCH: the same key and body gives the first response again, another
 * body 422, a request still in progress 409. Responses are stored unless the request certainly changed nothing.
 */

declare module 'fastify' {
  interface FastifyRequest {
    idempotency: { key: string; given: boolean; held: HeldKey | undefined } | null;
  }
  interface FastifyContextConfig {
    /**
     * The route itself finds its earlier record by the key, so after a crash the request can run again. Without this,
     * a repeat of an interrupted request gets `outcome_unknown`, because running it again could take effect twice.
     */
    resumable?: boolean;
    /**
     * The response contains a secret that is shown once and not stored, so it is not replayed: a repeat gets a conflict
     * that says so.
     */
    secretAnswer?: boolean;
  }
}

/** Longer responses are not stored: long prints would fill the database. */
const MAX_KEPT_CHARS = 256 * 1024;

export function replayRepeatedWrites(scope: App, keys: IdempotencyKeys, now: () => number): void {
  scope.decorateRequest('idempotency', null);

  scope.addHook('preHandler', async (request, reply) => {
    if (request.method !== 'POST' && request.method !== 'PATCH') return undefined;
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
      // The caller still gets the response; the store keeps it in memory for a repeat while this process runs.
      request.log.error({ err: error }, 'the response could not be stored for its Idempotency-Key');
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
 * A 503 means that nothing was changed. After any other failure, such as a broken client connection, the request may have
 * taken effect: a client that retries automatically would run a command twice.
 */
function mayBeDoneAnew(request: FastifyRequest, { statusCode }: FastifyReply): boolean {
  return statusCode === 503 || (statusCode >= 500 && request.routeOptions.config.resumable === true);
}

function holdsSecret(request: FastifyRequest, reply: FastifyReply): boolean {
  return request.routeOptions.config.secretAnswer === true && reply.statusCode < 400;
}

/** The response to a repeat whose first response was not stored. */
function notKept(request: FastifyRequest, why: string): string {
  const error = new AppError('conflict', `the first request with this Idempotency-Key succeeded; ${why}`);
  return JSON.stringify(toProblem(error, request.id));
}

/** The caller's key, or one generated for this request, as job receipts show it. */
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

/** The path with validated parameters: an id in capitals gives the same path. */
function pathOf({ routeOptions, params }: FastifyRequest): string {
  return (routeOptions.url ?? '').replaceAll(/:(\w+)/g, (_, name: string) => (params as Record<string, string>)[name] ?? '');
}

/** From the validated body, so that the order of members and white space do not matter. */
function payloadOf(request: FastifyRequest): string {
  return JSON.stringify(request.body ?? null);
}
