import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { invalidField } from '../core/errors.ts';
import { MAX_PAGE } from '../core/page.ts';
import type { Page } from '../core/page.ts';

export const pageQuery = z.object({
  limit: z.coerce.number().int().min(1).max(MAX_PAGE).optional(),
  cursor: z.string().min(1).max(512).optional(),
});

/** Without `limit`, a page has up to 1,000 records. @throws AppError `invalid` for a cursor that this service did not issue */
export function readPage(query: z.infer<typeof pageQuery>): Page {
  return { limit: query.limit ?? MAX_PAGE, before: query.cursor === undefined ? undefined : decodeCursor(query.cursor) };
}

function decodeCursor(cursor: string): { at: number; id: string } {
  const match = /^(\d{1,15})~([0-9a-f-]{36})$/.exec(Buffer.from(cursor, 'base64url').toString('latin1'));
  if (!match) throw invalidField('cursor', 'is not one that this service gave out');
  return { at: Number(match[1]), id: match[2]! };
}

/**
 * Sends `Link: <…>; rel="next"` when the page is full. Stores fetch exactly `page.limit` records; a full page
 * may turn out to have an empty successor, which is cheaper than counting.
 * @param isCut true: the page ended before its limit, and there is more
 */
export function linkNext<T>(
  request: FastifyRequest,
  reply: FastifyReply,
  page: Page,
  records: readonly T[],
  keyOf: (record: T) => { at: number; id: string },
  isCut = false,
): void {
  const last = records.at(-1);
  if (last === undefined || (records.length < page.limit && !isCut)) return;
  const key = keyOf(last);
  const url = new URL(request.url, 'http://localhost');
  url.searchParams.set('limit', String(page.limit));
  url.searchParams.set('cursor', Buffer.from(`${key.at}~${key.id}`, 'latin1').toString('base64url'));
  reply.header('link', `<${url.pathname}${url.search}>; rel="next"`);
}
