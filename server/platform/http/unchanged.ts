import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { App } from './app-type.ts';

/** 128 bits of the hash, in the letters of a tag. */
const TAG_CHARS = 22;

/**
 * Answers to GET have a weak `ETag` of their body, unless the route has named the version of its record. A caller who names it in `If-None-Match` gets 304 without a body as long as the answer is
 * the same. The work of making the answer is done all the same.
 * @param onUnchanged called for each 304, before it is sent
 */
export function answerUnchanged(scope: App, onUnchanged: (request: FastifyRequest) => void): void {
  scope.addHook('onSend', async (request, reply, payload) => {
    if (request.method !== 'GET' || reply.statusCode !== 200 || typeof payload !== 'string') return payload;
    const own = reply.getHeader('etag');
    const tag = typeof own === 'string' ? own : `W/"${createHash('sha256').update(payload).digest('base64url').slice(0, TAG_CHARS)}"`;
    reply.header('etag', tag);
    if (!names(request.headers['if-none-match'], tag)) return payload;
    onUnchanged(request);
    reply.code(304).removeHeader('content-type').removeHeader('content-length');
    return null;
  });
}

/** Compared weakly, as RFC 9110 says for `If-None-Match`. */
function names(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  const opaque = (text: string): string => text.trim().replace(/^W\//, '');
  return header.trim() === '*' || header.split(',').some((named) => opaque(named) === opaque(tag));
}
