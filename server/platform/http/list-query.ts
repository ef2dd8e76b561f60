import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { invalidField } from '../core/errors.ts';
import type { Among, Found, ListPage, RecordFilter, SortValue } from '../core/list-page.ts';
import { MAX_PAGE } from '../core/page.ts';
import { inPieces, sendJson } from './json-pieces.ts';
import { momentField, textField, uuidField } from './fields.ts';

/**
 * Lists that filter, sort and leave fields out (docs/lists.md). A list names its orders and fields once; the query is checked by zod, the
 * cursor here.
 */
export interface ListShape<Sort extends string, Field extends string> {
  /** Names this list in its cursors. */
  name: string;
  /** Orders, and whether their values are texts or numbers. */
  sorts: Record<Sort, 'text' | 'number'>;
  /** The default order. A minus sign means descending. */
  defaultSort: Sort | `-${Sort}`;
  /** One record, as it is answered. */
  item: z.ZodObject<Record<Field, z.ZodType>>;
  /** The most that one page shows; {@link MAX_PAGE} when missing. */
  mostPerPage?: number;
}

/** Long enough for any identity that a router may have. */
const CURSOR_CHARS = 2048;
/** Values that one filter may name: more would be a list of its own. */
const MOST_VALUES = 100;
const SEARCH_CHARS = 100;

/** The parameters that every such list takes. */
export function listQuery<Sort extends string, Field extends string>({ sorts, item, mostPerPage = MAX_PAGE }: ListShape<Sort, Field>) {
  const fields = Object.keys(item.shape) as Field[];
  const orders = (Object.keys(sorts) as Sort[]).flatMap((sort) => [sort, `-${sort}`] as const);
  return z.object({
    limit: z.coerce.number().int().min(1).max(mostPerPage).optional().describe(`Records of one page; ${MAX_PAGE} when missing`),
    cursor: z
      .string()
      .min(1)
      .max(CURSOR_CHARS)
      .optional()
      .describe('From the `Link` of the page before; only with the same filters and order'),
    sort: z.enum(orders).optional().describe('A minus sign means descending order'),
    fields: severalOf(z.enum(fields), fields.length).optional().describe('Fields of each record, separated by commas; all when missing'),
    total: z.enum(['true', 'false']).optional().describe('true: also count the records that match'),
  });
}

/** `?status=failed&status=unknown` or `?status=failed,unknown`. */
function severalOf<Item extends z.ZodType>(item: Item, most = MOST_VALUES) {
  return z.preprocess((value) => (typeof value === 'string' ? value.split(',') : value), z.array(item).min(1).max(most));
}

/** A filter over a fixed set of words. One behind `!` is unwanted. */
export function wordsFilter<Word extends string>(words: readonly Word[]) {
  return severalOf(z.enum(words.flatMap((word) => [word, `!${word}`] as const))).optional();
}

/** The same for words that are many, and more with each version: a text for clients. */
export function knownFilter(words: readonly string[]) {
  const known = new Set(words);
  const word = textField(SEARCH_CHARS).refine((text) => known.has(text.replace(/^!/, '')), `must be one of ${words.join(', ')}`);
  return severalOf(word).optional();
}

const NONE = 'none';

/** A filter over ids. One behind `!` is unwanted; `none` is for records without one. */
export const idsFilter = severalOf(
  z
    .string()
    .toLowerCase()
    .refine((text) => isId(text.replace(/^!/, '')), 'must be a UUID or none, each with ! before it to leave it out'),
).optional();

function isId(text: string): boolean {
  return text === NONE || uuidField.safeParse(text).success;
}

/** A filter over texts. One behind `!` is unwanted. */
export const textsFilter = severalOf(textField(SEARCH_CHARS).min(1)).optional();

/** A filter over one id, or `none` for records without one. */
export const idOrNone = z.string().toLowerCase().refine(isId, 'must be a UUID or none').optional();

/** Text that is looked for in several fields. */
export const searchField = textField(SEARCH_CHARS).trim().min(1);

/** What a filter wants and what it does not. */
export function readAmong<Value extends string = string>(values: readonly string[] | undefined): Among<Value> {
  const isUnwanted = (value: string): boolean => value.startsWith('!');
  return {
    only: (values ?? []).filter((value) => !isUnwanted(value)) as Value[],
    not: (values ?? []).filter(isUnwanted).map((value) => value.slice(1)) as Value[],
  };
}

/** The same for {@link idsFilter}. */
export function readIds(values: readonly string[] | undefined): Among<string | null> {
  const { only, not } = readAmong(values);
  const orNull = (value: string): string | null => (value === NONE ? null : value);
  return { only: only.map(orNull), not: not.map(orNull) };
}

/** The filters of lists of records of routers. */
export const recordFilters = {
  router_id: uuidField.optional().describe('Records of this router'),
  from: momentField.optional().describe('Created at that time or later'),
  to: momentField.optional().describe('Created before that time'),
};

/** What {@link recordFilters} say. */
export function readRecordFilter({
  router_id: routerId,
  from,
  to,
}: {
  router_id?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
}): RecordFilter {
  const momentOf = (text: string | undefined): number | undefined => (text === undefined ? undefined : Date.parse(text));
  return { routerId, from: momentOf(from), to: momentOf(to) };
}

type ListRequest = z.infer<ReturnType<typeof listQuery>>;

/** Which page is asked for. @throws AppError `invalid` for a cursor that does not belong to this list with these filters and this order */
export function readListPage<Sort extends string>(shape: ListShape<Sort, string>, query: ListRequest): ListPage<Sort> {
  const order = query.sort ?? shape.defaultSort;
  const descending = order.startsWith('-');
  const sort = (descending ? order.slice(1) : order) as Sort;
  const page = { limit: query.limit ?? MAX_PAGE, sort, descending };
  if (query.cursor === undefined) return { ...page, after: undefined };
  const [mark, value, id] = decodeCursor(query.cursor);
  if (mark !== markOf(shape, query)) throw invalidField('cursor', 'belongs to a list with other filters or another order');
  if (typeof value !== (shape.sorts[sort] === 'number' ? 'number' : 'string')) throw foreignCursor();
  return { ...page, after: { value, id } };
}

/** Lists of one name, order and filter have the same mark. */
function markOf({ name, defaultSort }: ListShape<string, string>, query: ListRequest): string {
  const { limit: _limit, cursor: _cursor, fields: _fields, total: _total, sort = defaultSort, ...filters } = query;
  const given = Object.entries(filters)
    .filter(([, value]) => value !== undefined)
    .toSorted(([one], [other]) => (one < other ? -1 : 1));
  return createHash('sha256')
    .update(JSON.stringify([name, sort, given]))
    .digest('base64url')
    .slice(0, 8);
}

const cursorSchema = z.tuple([z.string(), z.union([textField(CURSOR_CHARS), z.int()]), uuidField]);

function decodeCursor(cursor: string): z.infer<typeof cursorSchema> {
  const read = cursorSchema.safeParse(jsonOf(Buffer.from(cursor, 'base64url').toString()));
  if (!read.success) throw foreignCursor();
  return read.data;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function foreignCursor() {
  return invalidField('cursor', 'is not one that this service gave out');
}

/** What a list answers: `total` only if it was asked for. */
export function listEnvelope<Item extends z.ZodType>(item: Item) {
  return z.object({
    status: z.literal('success'),
    data: z.array(item),
    total: z.int().optional().describe('Records that match, with `total=true`'),
    total_is_exact: z.boolean().optional().describe('False: there are more than `total`; counting stopped there'),
  });
}

/**
 * Answers a list: the fields that were asked for, the total, and the address of the next page in `Link` when this one is full. A full page
 * may turn out to have an empty successor, which is cheaper than looking. The records are written out in pieces (core/loop-turns.ts).
 * @param keyOf a record's value in the page's order, and its id
 */
export async function answerList<Row>(
  { request, reply, shape, page }: { request: FastifyRequest; reply: FastifyReply; shape: ListShape<string, string>; page: ListPage },
  { rows, total }: Found<Row>,
  keyOf: (row: Row) => { value: SortValue; id: string },
  present: (row: Row) => Record<string, unknown>,
): Promise<never> {
  const query = request.query as ListRequest;
  const last = rows.at(-1);
  if (last !== undefined && rows.length >= page.limit) {
    const { value, id } = keyOf(last);
    linkNext(request, reply, page.limit, [markOf(shape, query), value, id]);
  }
  const { fields } = query;
  // The schema has every field of a record: one with fewer is written without it.
  const write = (row: Row): unknown => (fields ? only(fields, present(row)) : shape.item.encode(present(row)));
  const counted = total ? `,"total":${total.count},"total_is_exact":${total.isExact}` : '';
  return sendJson(reply, ['{"status":"success","data":', await inPieces(rows, write), `${counted}}`]);
}

function linkNext(request: FastifyRequest, reply: FastifyReply, limit: number, cursor: z.infer<typeof cursorSchema>): void {
  const url = new URL(request.url, 'http://localhost');
  url.searchParams.set('limit', String(limit));
  url.searchParams.set('cursor', Buffer.from(JSON.stringify(cursor)).toString('base64url'));
  reply.header('link', `<${url.pathname}${url.search}>; rel="next"`);
}

function only(fields: readonly string[], item: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(fields.map((field) => [field, item[field]]));
}
