import type { z } from 'zod';
import type { Found, ListPage, RecordFilter } from '../core/list-page.ts';
import type { Principal } from '../core/principal.ts';
import type { App } from './app.ts';
import { principalOf } from './authentication.ts';
import { commonErrors } from './envelope.ts';
import { answerList, listEnvelope, listQuery, readListPage, readRecordFilter, recordFilters } from './list-query.ts';
import type { ListShape } from './list-query.ts';

/** A list of the records of all routers of a team, in the order of their creation. */
export interface RecordList<Filters extends z.ZodRawShape, Row> {
  path: string;
  tag: string;
  operationId: string;
  summary: string;
  /** Names this list in its cursors. */
  name: string;
  /** One record, as it is answered. */
  item: ListShape<'created_at', string>['item'];
  /** Beside router and time. */
  filters: Filters;
  find: (query: RecordQuery<Filters>) => Promise<Found<Row>>;
  recordOf: (row: Row) => { created_at: number; id: string };
  present: (row: Row) => Record<string, unknown>;
}

export interface RecordQuery<Filters extends z.ZodRawShape> {
  teamId: string;
  /** For lists that show the caller more of their own records. */
  caller: Principal;
  /** Router and time. */
  filter: RecordFilter;
  /** The list's own filters. */
  given: z.output<z.ZodObject<Filters>>;
  page: ListPage;
  wantsTotal: boolean;
}

/** The route of such a list: filters, order, fields, total and pages as in docs/lists.md. */
export function recordListRoute<Filters extends z.ZodRawShape, Row>(app: App, list: RecordList<Filters, Row>): void {
  const { name, item, find, recordOf, present } = list;
  const shape = { name, sorts: { created_at: 'number' }, defaultSort: '-created_at', item } as const satisfies ListShape<
    'created_at',
    string
  >;
  const common = listQuery(shape).extend(recordFilters);
  app.get(
    list.path,
    {
      schema: {
        tags: [list.tag],
        operationId: list.operationId,
        summary: list.summary,
        querystring: common.extend(list.filters),
        response: { 200: listEnvelope(item), ...commonErrors },
      },
    },
    async (request, reply) => {
      const query = request.query as z.output<typeof common> & z.output<z.ZodObject<Filters>>;
      const page = readListPage(shape, query);
      const caller = principalOf(request);
      const filter = readRecordFilter(query);
      const found = await find({ teamId: caller.teamId, caller, filter, given: query, page, wantsTotal: query.total === 'true' });
      const keyOf = (row: Row): { value: number; id: string } => ({ value: recordOf(row).created_at, id: recordOf(row).id });
      return answerList({ request, reply, shape, page }, found, keyOf, present);
    },
  );
}
