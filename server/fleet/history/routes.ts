import { z } from 'zod';
import type { App } from '../../platform/http/app.ts';
import { principalOf } from '../../platform/http/authentication.ts';
import { commonErrors, dateTime, envelope, routerParams, success, toDateTime, toDateTimeOrNull } from '../../platform/http/envelope.ts';
import { momentField } from '../../platform/http/fields.ts';
import { linkNext, pageQuery, readPage } from '../../platform/http/pagination.ts';
import type { HistoryService, NamedItem } from './service.ts';
import { HISTORY_KINDS } from './types.ts';

/** About what a screen shows: every kind is read up to this number. */
const USUAL_LIMIT = 100;

const itemSchema = z
  .object({
    id: z.string(),
    kind: z.enum(HISTORY_KINDS),
    at: dateTime.describe('When it began'),
    until: dateTime.nullable().describe('Null: it continues, it has no duration, or its end is unknown'),
    status: z
      .string()
      .describe(
        'state: the state; session: `open` or how it ended; fault: the severity; job: its status; forward: `open` or `closed`; ' +
          'backup: its state; action: the HTTP status of the answer',
      ),
    title: z.string().describe('In words. Of an action the method and the route, of a job its description'),
    by: z
      .string()
      .nullable()
      .describe(
        'Name of the API key or agent, or email address of the person that did it; null for callers who may not read the audit log',
      ),
    link: z.string().nullable().describe('Path of this API that has more'),
  })
  .meta({
    id: 'HistoryItem',
    examples: [
      {
        id: '01a1fba3-2c11-7d2c-9f0e-3a1c5e7b9d24',
        kind: 'state',
        at: '2031-05-01T08:30:00.000Z',
        until: '2031-05-01T08:32:10.000Z',
        status: 'not_answering',
        title: 'not_answering: refused',
        by: null,
        link: null,
      },
    ],
  });

const query = pageQuery.extend({
  kind: z
    .preprocess(
      (value) => (typeof value === 'string' ? value.split(',') : value),
      z.array(z.enum(HISTORY_KINDS)).min(1).max(HISTORY_KINDS.length),
    )
    .optional()
    .describe('Kinds, separated by commas; all when missing. `action` needs the role admin'),
  from: momentField.optional().describe('Only records that began at that time or later'),
  to: momentField.optional().describe('Only records that began before that time'),
});

export function historyRoutes(app: App, { history }: { history: Pick<HistoryService, 'list'> }): void {
  app.get(
    '/api/routers/:router_id/history',
    {
      schema: {
        tags: ['routers'],
        operationId: 'listRouterHistory',
        summary:
          "List what happened to a router, newest first: states, its agent's sessions, faults, jobs, forwards, backups and people's actions",
        params: routerParams,
        querystring: query,
        response: { 200: envelope(z.array(itemSchema)), ...commonErrors },
      },
    },
    async (request, reply) => {
      const { kind: kinds = [], from, to, limit = USUAL_LIMIT, cursor } = request.query;
      const page = readPage({ limit, cursor });
      const filter = { kinds, from: momentOf(from), to: momentOf(to) };
      const items = await history.list(principalOf(request), request.params.router_id, filter, page);
      linkNext(request, reply, page, items, ({ at, id }) => ({ at, id }));
      return success(items.map(present));
    },
  );
}

function momentOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Date.parse(text);
}

function present({ id, kind, at, until, status, title, by, link }: NamedItem): z.infer<typeof itemSchema> {
  return { id, kind, at: toDateTime(at), until: toDateTimeOrNull(until), status, title, by, link };
}
